import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import type { Plugin } from 'esbuild';
import type { DocsFiles, PageFiles } from '#clients/web-server/files.ts';
import { buildSite } from '#infra/docs/site/build.ts';
import { buildPage } from '#infra/stack/page.ts';

const brotli = promisify(brotliCompress);

interface Made<T> {
  files: T;
  packages: string[];
}

const page = async (root: string): Promise<Made<PageFiles>> => {
  const { page: files, packages } = await buildPage(root);
  return { files, packages };
};

/** The highest level would take 16 s. */
const docs = async (): Promise<Made<DocsFiles>> => {
  const { files, packages } = await buildSite();
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 24 };
  return { files: { br: (await brotli(JSON.stringify(files), { params })).toString('base64') }, packages };
};

/**
 * Allows the functions that serve the page and the documentation to import them: `stepform:page`, `stepform:docs`.
 * @param packages receives the packages in them
 */
export const servedFilesPlugin = (root: string, packages: string[]): Plugin => ({
  name: 'served-files',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^stepform:(page|docs)$/ }, ({ path }) => ({ path, namespace: 'stepform' }));
    onLoad({ filter: /.*/, namespace: 'stepform' }, async ({ path }) => {
      const made = path === 'stepform:page' ? await page(root) : await docs();
      packages.push(...made.packages);
      return { contents: JSON.stringify(made.files), loader: 'json' };
    });
  },
});
