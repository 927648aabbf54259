import { brotliDecompressSync, gzipSync } from 'node:zlib';
import { buildPage } from '#infra/stack/page.ts';

/** Maximum of the scripts and styles that the page loads before its first view. */
export const mostFirstLoadBytes = 50_000;

/** Scripts and styles that the document names, packed by gzip as browsers without Brotli receive them. */
export const firstLoadBytes = async (): Promise<number> => {
  const { html, assets } = (await buildPage(process.cwd())).page;
  const names = Object.keys(assets).filter((name) => /\.(js|css)$/.test(name) && html.includes(name));
  const contents = names.map((name) => brotliDecompressSync(Buffer.from(assets[name]?.br ?? '', 'base64')));
  return contents.reduce((sum, content) => sum + gzipSync(content, { level: 9 }).length, 0);
};
