import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import { build, type Metafile, type Plugin, transform } from 'esbuild';
import type { PageFile, PageFiles } from '#clients/web-server/files.ts';

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const brotli = promisify(brotliCompress);

/** Compressed at build time at the highest level; the function sends it unchanged. */
const compressed = async (name: string, content: Uint8Array): Promise<PageFile> => {
  const contentType = types[extname(name)];
  if (!contentType) throw new Error(`${name}: no content type is known for this file`);
  const br = await brotli(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
  return { contentType, br: br.toString('base64') };
};

const hashed = (name: string, content: Uint8Array): string => {
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 10);
  return `${basename(name, extname(name))}-${hash}${extname(name)}`;
};

// Browsers since spring 2024: light-dark(), Promise.withResolvers.
const target = ['chrome123', 'edge123', 'firefox121', 'safari17.5'];

/** Style sheets that scripts import as text, minified like the page's own. */
const styleTexts: Plugin = {
  name: 'style-texts',
  setup(context) {
    context.onLoad({ filter: /\.css$/ }, async ({ path, with: { type } }) => {
      if (type !== 'text') return undefined;
      const { code } = await transform(await readFile(path, 'utf8'), { loader: 'css', minify: true, target });
      return { contents: code, loader: 'text' };
    });
  },
};

/**
 * Makes each group of views (groups/) import the app, so that shared code stays in the script that the document loads:
 * esbuild would otherwise split it into files that the first view has to request.
 */
const sharedInOneScript: Plugin = {
  name: 'shared-in-one-script',
  setup(context) {
    context.onLoad({ filter: /[\\/]web[\\/]groups[\\/][^\\/]+\.ts$/ }, async ({ path }) => ({
      contents: `import '../app.tsx';\n${await readFile(path, 'utf8')}`,
      loader: 'ts',
    }));
  },
};

type Outputs = Metafile['outputs'];

/** The scripts that load with one script, including itself. */
const loadedWith = (outputs: Outputs, path: string, loaded = new Set<string>()): Set<string> => {
  loaded.add(path);
  for (const { path: imported, kind } of outputs[path]?.imports ?? [])
    if (kind === 'import-statement' && !loaded.has(imported)) loadedWith(outputs, imported, loaded);
  return loaded;
};

const linked = (outputs: Outputs, script: string): string =>
  [...loadedWith(outputs, script)]
    .filter((path) => path !== script)
    .map((path) => `\n    <link rel="modulepreload" href="{{base}}app/assets/${basename(path)}" />`)
    .join('');

/**
 * Bundles the web page: a script, further scripts for it and for views, one style sheet, an icon. File names contain a
 * hash of the content.
 * @throws {BuildFailure} of esbuild
 */
export const buildPage = async (root: string): Promise<PageFiles> => {
  const source = join(root, 'functions/clients/web');
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [{ in: join(source, 'main.tsx'), out: 'page' }],
    outdir: '/',
    write: false,
    bundle: true,
    splitting: true,
    metafile: true,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    platform: 'browser',
    format: 'esm',
    target,
    plugins: [styleTexts, sharedInOneScript],
    minify: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    charset: 'utf8',
    logLevel: 'silent',
  });
  const icon = new Uint8Array(await readFile(join(source, 'icon.svg')));
  const files = [
    ...outputFiles.map(({ path, contents }) => ({ name: basename(path), contents })),
    { name: hashed('icon.svg', icon), contents: icon },
  ];
  const pathOf = (pattern: RegExp) => Object.keys(metafile.outputs).find((path) => pattern.test(path)) ?? '';
  const script = pathOf(/page-\w+\.js$/);
  const html = (await readFile(join(source, 'index.html'), 'utf8'))
    .replace('{{script}}', basename(script))
    .replace('\n    {{parts}}', linked(metafile.outputs, script))
    .replace('{{style}}', basename(pathOf(/page-\w+\.css$/)))
    .replace('{{icon}}', hashed('icon.svg', icon));
  const assets = files.map(async ({ name, contents }) => [name, await compressed(name, contents)] as const);
  return { html, assets: Object.fromEntries(await Promise.all(assets)) };
};

/** Allows the function that serves the page to import it: `stepform:page`. */
export const pagePlugin = (root: string): Plugin => ({
  name: 'page',
  setup(context) {
    context.onResolve({ filter: /^stepform:page$/ }, () => ({ path: 'page', namespace: 'stepform' }));
    context.onLoad({ filter: /.*/, namespace: 'stepform' }, async () => ({
      contents: JSON.stringify(await buildPage(root)),
      loader: 'json',
    }));
  },
});
