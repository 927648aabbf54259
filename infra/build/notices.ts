import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { root } from '#platform/program.ts';

/** Licence texts of the packages that a bundle contains, as their licences require of each copy. */

/** Name of the file with them, in the package and in the runner's image. */
export const noticesFile = 'THIRD-PARTY-NOTICES';

const inPackage = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//;

/** Folders of the packages, relative to the checkout, whose code is in the outputs: `node_modules/preact`. */
export const packagesIn = ({ outputs }: Metafile): string[] => {
  const files = Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );
  return [...new Set(files.flatMap((path) => inPackage.exec(path)?.[1] ?? []))].sort();
};

const textNames = /^(licen[cs]e|copying|notice)(?!.*\.[cm]?[jt]s$)/i;

interface Manifest {
  name: string;
  version: string;
  license?: string;
  author?: string | { name: string };
}

const mit = (holder: string) => `Copyright (c) ${holder}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

/** The text of a package that names its licence but brings no file. */
const standardText = async ({ name, license, author }: Manifest): Promise<string> => {
  const holder = (typeof author === 'object' ? author.name : author) ?? `the authors of ${name}`;
  if (license === 'MIT') return mit(holder);
  if (license === 'Apache-2.0')
    return (await readFile(join(root, 'LICENSE'), 'utf8')).replace(/Copyright \d+ The stepform authors/, holder);
  throw new Error(`${name} brings no text of its licence (${license}); add it to infra/build/notices.ts`);
};

const textsOf = async (folder: string, manifest: Manifest): Promise<string> => {
  const names = existsSync(folder) ? (await readdir(folder)).filter((name) => textNames.test(name)).sort() : [];
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  if (!names.some((name) => !/^notice/i.test(name))) texts.unshift(await standardText(manifest));
  return texts.map((text) => text.replaceAll('\r\n', '\n').trim()).join('\n\n');
};

/**
 * Equal texts once, below the packages that they are for.
 * @param packages as of {@link packagesIn}
 * @throws {Error} for a package whose text is unknown
 */
export const noticesOf = async (packages: string[]): Promise<string> => {
  const byText = new Map<string, Set<string>>();
  for (const path of packages) {
    const folder = join(root, path);
    const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest;
    const text = await textsOf(folder, manifest);
    byText.set(text, (byText.get(text) ?? new Set()).add(`${manifest.name} ${manifest.version} (${manifest.license})`));
  }
  const parts = [...byText].map(([text, names]) => `${[...names].join('\n')}\n\n${text}`);
  const intro = 'This software contains code of the packages below, under the licences that follow their names.';
  return `${[intro, ...parts].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
};
