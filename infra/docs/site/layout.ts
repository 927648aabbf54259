import { posix } from 'node:path';
import type { Token, Tokens } from 'marked';
import { Lexer } from 'marked';
import { escaped } from './markdown.ts';
import { home, type Page, pathOf, relativePath } from './pages.ts';

/** The document around a page. All addresses are relative: the site works below any path. */

interface Group {
  title: string;
  /** `text` has the whole line, with what the page is about. */
  links: { title: string; path: string; text: string }[];
}

const isLink = (token: Token): token is Tokens.Link => token.type === 'link';

/** The headings and lists of infra/docs/README.md. */
export const navigationOf = (text: string): Group[] => {
  const groups: Group[] = [];
  for (const token of new Lexer().lex(text)) {
    if (token.type === 'heading' && token.depth === 2) groups.push({ title: token.text, links: [] });
    if (token.type !== 'list') continue;
    for (const item of (token as Tokens.List).items) {
      const link = item.tokens.flatMap((inner) => ('tokens' in inner ? (inner.tokens ?? []) : [])).find(isLink);
      const path = link && pathOf(posix.join(posix.dirname(home), link.href));
      if (!link || !path) throw new Error(`${home}: "${item.text}" does not begin with a link to a page`);
      groups.at(-1)?.links.push({ title: link.text, path, text: item.text.replace(/\]\(.*?\)/, '') });
    }
  }
  return groups;
};

export interface Frame {
  version: string;
  navigation: Group[];
  /** Paths of files of all pages. */
  script: string;
  style: string;
  icon: string;
  licenses: string;
}

export const documentOf = (page: Page, { version, navigation, script, style, icon, licenses }: Frame): string => {
  const to = (path: string) => escaped(relativePath(page.path, path));
  const groups = navigation.map(
    ({ title, links }) =>
      `<h2>${escaped(title)}</h2><ul>${links
        .map(({ title, path }) => {
          const current = path === page.path ? ' aria-current="page"' : '';
          return `<li><a href="${to(path)}"${current}>${escaped(title)}</a></li>`;
        })
        .join('')}</ul>`,
  );
  const outline =
    page.outline.length > 1
      ? `<nav class="outline" aria-labelledby="outline"><h2 id="outline">On this page</h2><ul>${page.outline
          .map(({ anchor, title }) => `<li><a href="#${anchor}">${escaped(title)}</a></li>`)
          .join('')}</ul></nav>`
      : '';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(page.title)} · stepform</title>
<link rel="icon" type="image/svg+xml" href="${to(icon)}">
<link rel="license" href="${to(licenses)}">
<link rel="stylesheet" href="${to(style)}">
<script type="module" src="${to(script)}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<a class="brand" href="${to('index.html')}">stepform <span>documentation</span></a>
<search><label class="visually-hidden" for="search">Search</label><input id="search" type="search" placeholder="Search" autocomplete="off" aria-keyshortcuts="/" disabled><div id="results" hidden></div><p id="found" class="visually-hidden" role="status"></p></search>
<a class="to-menu" href="#menu">Menu</a>
<a class="version" href="${to('project/changelog.html')}" title="Changes of each version">${escaped(version)}</a>
</header>
<div class="columns">
<main id="content" tabindex="-1">
${page.html}</main>
${outline}
<nav class="menu" id="menu" aria-label="Pages">${groups.join('\n')}</nav>
</div>
</body>
</html>
`;
};
