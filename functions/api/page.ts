import { createHash } from 'node:crypto';
import { type Answer, standardHeaders } from './answer.ts';

/** HTML pages for signing in. They have no scripts and load nothing. */

const style = `
:root { color-scheme: light dark; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; box-sizing: border-box;
  background: light-dark(#f5f6f9, #0e1116); color: light-dark(#171b22, #e6eaf1); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 27rem; padding: 1.75rem; border-radius: 10px; border: 1px solid light-dark(#dde1e9, #2b323d);
  background: light-dark(#fff, #161b22); }
h1 { font-size: 1.25rem; margin: 0 0 .75rem; }
p { margin: 0 0 1rem; }
label { display: block; font-weight: 600; margin-bottom: .35rem; }
input { width: 100%; box-sizing: border-box; padding: .55rem .7rem; font: 14px ui-monospace, monospace; color: inherit;
  border: 1px solid light-dark(#868f9f, #6d7889); border-radius: 6px; background: light-dark(#fff, #0b0e13); }
button, .button { display: inline-block; padding: .55rem 1.1rem; font: inherit; font-weight: 600; color: #fff; border: 0;
  border-radius: 6px; background: light-dark(#4a3fd4, #5b50e0); cursor: pointer; text-decoration: none; }
button { margin-top: 1rem; }
a:not(.button) { color: light-dark(#4a3fd4, #a9a0ff); }
.soft { color: light-dark(#545d6c, #a3adbb); margin: 1.25rem 0 0; font-size: .9em; }
.bad { color: light-dark(#b3261e, #ff9087); }
:focus-visible { outline: 2px solid light-dark(#4a3fd4, #a9a0ff); outline-offset: 2px; }
`;

const styleHash = createHash('sha256').update(style).digest('base64');

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
export const escaped = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => entities[character] as string);

/** @param formAction allowed targets of forms, for the Content-Security-Policy */
export const page = (statusCode: number, title: string, content: string, formAction = "'none'"): Answer => ({
  statusCode,
  headers: {
    ...standardHeaders,
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; form-action ${formAction}; base-uri 'none'; frame-ancestors 'none'`,
  },
  body: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${content}
</main>
</body>
</html>
`,
});
