import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import { build, type Metafile, type Plugin, transform } from 'esbuild';
import type { PageFile, PageFiles } from '#clients/web-server/files.ts';
import { noticesOf, packagesIn } from '#infra/build/notices.ts';

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
};

const brotli = promisify(brotliCompress);

/** Compressed at build time at the highest level; the function sends it unchanged. */
const compressed = async (name: string, content: Uint8Array): Promise<PageFile> => {
  const contentType = types[extname(name)];
  if (!contentType) throw new Error(`${name}: no content type is known for this file`);
  const br = await brotli(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
  return { contentType, br: br.toString('base64') };
};

export const hashed = (name: string, content: Uint8Array): string => {
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 10);
  return `${basename(name, extname(name))}-${hash}${extname(name)}`;
};

// Browsers since spring 2024: light-dark(), Promise.withResolvers.
export const browsers = ['chrome123', 'edge123', 'firefox121', 'safari17.5'];

/** Style sheets that scripts import as text, minified like the page's own. */
const styleTexts: Plugin = {
  name: 'style-texts',
  setup(context) {
    context.onLoad({ filter: /\.css$/ }, async ({ path, with: { type } }) => {
      if (type !== 'text') return undefined;
      const { code } = await transform(await readFile(path, 'utf8'), { loader: 'css', minify: true, target: browsers });
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
 * Bundles the web page: a script, further scripts for it and for views, one style sheet, an icon, the licences of its
 * packages. File names contain a hash of the content.
 * @throws {BuildFailure} of esbuild
 */
export const buildPage = async (root: string): Promise<{ page: PageFiles; packages: string[] }> => {
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
    target: browsers,
    plugins: [styleTexts, sharedInOneScript],
    minify: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    charset: 'utf8',
    logLevel: 'silent',
  });
  const icon = new Uint8Array(await readFile(join(source, 'icon.svg')));
  const packages = packagesIn(metafile);
  const licenses = Buffer.from(await noticesOf(packages));
  const files = [
    ...outputFiles.map(({ path, contents }) => ({ name: basename(path), contents })),
    { name: hashed('icon.svg', icon), contents: icon },
    { name: hashed('licenses.txt', licenses), contents: licenses },
  ];
  const pathOf = (pattern: RegExp) => Object.keys(metafile.outputs).find((path) => pattern.test(path)) ?? '';
  const script = pathOf(/page-\w+\.js$/);
  const html = (await readFile(join(source, 'index.html'), 'utf8'))
    .replace('{{script}}', basename(script))
    .replace('\n    {{parts}}', linked(metafile.outputs, script))
    .replace('{{style}}', basename(pathOf(/page-\w+\.css$/)))
    .replace('{{icon}}', hashed('icon.svg', icon))
    .replace('{{licenses}}', hashed('licenses.txt', licenses));
  const assets = files.map(async ({ name, contents }) => [name, await compressed(name, contents)] as const);
  const description = JSON.stringify(JSON.parse(await readFile(join(root, 'infra/docs/openapi.json'), 'utf8')));
  const openapi = await compressed('openapi.json', Buffer.from(description));
  return { page: { html, assets: Object.fromEntries(await Promise.all(assets)), openapi }, packages };
};
