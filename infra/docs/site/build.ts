import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { build } from 'esbuild';
import { version } from '#clients/cli/program.ts';
import { isBase64 } from '#clients/web-server/files.ts';
import { noticesOf, packagesIn } from '#infra/build/notices.ts';
import { browsers, hashed } from '#infra/stack/page.ts';
import { root } from '#platform/program.ts';
import { documentOf, navigationOf } from './layout.ts';
import { home, readPages } from './pages.ts';

/** `npm run docs:site`: the documentation as a site of plain files, in `.build/docs`. */

export interface Site {
  /** Text of each file by its path, Base64 for pictures of bits. */
  files: Record<string, string>;
  /** Folders of packages whose code is in the script. */
  packages: string[];
}

/** Lists of pages, and records of choices, would fill the results of a search for how something is done. */
const isSearched = (path: string): boolean => !/^(decisions|changes)\/|^project\/c|^index\.html$/.test(path);

const asset = (name: string, content: string) => ({ path: `assets/${hashed(name, Buffer.from(content))}`, content });

/**
 * Takes a second.
 * @throws {Error} for a link to a page or heading that does not exist
 */
export const buildSite = async (): Promise<Site> => {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['functions/clients/docs/main.ts', 'functions/clients/docs/docs.css'],
    outdir: '/',
    write: false,
    bundle: true,
    metafile: true,
    format: 'esm',
    target: browsers,
    minify: true,
    legalComments: 'none',
    charset: 'utf8',
    logLevel: 'silent',
  });
  const output = (ending: string) => outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? '';
  const packages = packagesIn(metafile);
  const script = asset('docs.js', output('.js'));
  const style = asset('docs.css', output('.css'));
  const icon = asset('icon.svg', await readFile(join(root, 'functions/clients/web/icon.svg'), 'utf8'));
  const licenses = asset('licenses.txt', await noticesOf(packages));
  const { pages, files } = readPages(root);
  const frame = {
    version: version(),
    navigation: navigationOf(await readFile(join(root, home), 'utf8')),
    script: script.path,
    style: style.path,
    icon: icon.path,
    licenses: licenses.path,
  };
  const descriptions = new Map(frame.navigation.flatMap(({ links }) => links.map((link) => [link.path, link.text])));
  const searched = pages.flatMap(({ path, title, sections, keywords }) => {
    if (!isSearched(path)) return [];
    const about = [descriptions.get(path), keywords].filter(Boolean).join(' ');
    return sections.map(({ anchor, title: heading, text }) =>
      anchor ? [path, anchor, title, heading, text] : [path, anchor, title, heading, text, about],
    );
  });
  return {
    files: {
      ...files,
      ...Object.fromEntries(pages.map((page) => [page.path, documentOf(page, frame)])),
      ...Object.fromEntries([script, style, icon, licenses].map(({ path, content }) => [path, content])),
      'search.json': JSON.stringify(searched),
    },
    packages,
  };
};

if (import.meta.main) {
  const out = join(root, '.build/docs');
  const { files } = await buildSite();
  await rm(out, { recursive: true, force: true });
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(out, path)), { recursive: true });
    await writeFile(join(out, path), text, isBase64(path) ? 'base64' : 'utf8');
  }
  console.log(`${Object.keys(files).length} files in .build/${basename(out)}`);
}
