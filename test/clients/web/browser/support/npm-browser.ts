import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import { type ExtractEvents, extract } from 'tar-stream';
import { locked } from '#infra/build/file-lock.ts';
import { machineCache } from '#infra/local/host/machine-cache.ts';

/**
 * A headless Chromium for Linux on x86-64 from the npm registry, with its libraries and a font: every machine that can
 * run `npm ci` can get it. It is downloaded once per machine, on demand: as a dependency, every user with a browser
 * would download its 70 MB too.
 */

const name = '@sparticuz/chromium';
const version = '153.0.0';
const integrity = 'sha512-jiGWqSvPMdu4+P9TilYqAR7yEGPEHINx+lCvE/NqNO/EHYzF/x1hUiI5T6ioVIt7dEy7n88byyT0vk+dnsgQwA==';
const downloadMs = 5 * 60_000;

type Entry = ExtractEvents['entry'][1];

export const isNpmBrowserForThisMachine = process.platform === 'linux' && process.arch === 'x64';

/** @returns path of the executable @throws {Error} if the registry is unreachable or its file is not the pinned one */
export const npmBrowser = async (tell: (text: string) => void): Promise<string> => {
  const folder = join(machineCache, `chromium-${version}`);
  const executable = join(folder, 'chromium.sh');
  if (existsSync(executable)) return executable;
  return locked(`${folder}.lock`, async () => {
    if (existsSync(executable)) return executable;
    tell(`Downloading ${name} ${version} (70 MB) from the npm registry for the tests of the page …`);
    const scratch = await mkdtemp(`${folder}.`);
    try {
      await unpack(await download(scratch), scratch);
      await writeFile(join(scratch, 'fonts.conf'), fonts(folder));
      await writeFile(join(scratch, 'chromium.sh'), start(folder), { mode: 0o755 });
      await rename(scratch, folder);
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
    return executable;
  });
};

const download = async (folder: string): Promise<string> => {
  const words = ['pack', `${name}@${version}`, '--silent', '--pack-destination', folder];
  const { stdout } = await promisify(execFile)('npm', words, { cwd: folder, timeout: downloadMs });
  const file = join(folder, stdout.trim());
  const sum = `sha512-${createHash('sha512')
    .update(await readFile(file))
    .digest('base64')}`;
  if (sum !== integrity) throw new Error(`${name} ${version} has checksum ${sum} instead of ${integrity}`);
  return file;
};

/** Contents of the package: the program, the libraries that a server lacks, and a font. */
const unpack = async (tarball: string, folder: string): Promise<void> => {
  await untar(createReadStream(tarball).pipe(createGunzip()), async (entry) => {
    const [, part] = /^package\/bin\/(chromium|al2023\.tar|fonts\.tar)\.br$/.exec(entry.header.name) ?? [];
    if (!part) return;
    const plain = entry.pipe(createBrotliDecompress());
    if (part === 'chromium') await pipeline(plain, createWriteStream(join(folder, 'chromium')));
    else await untar(plain, (file) => write(file, join(folder, part.replace('.tar', ''))));
  });
  await chmod(join(folder, 'chromium'), 0o755);
  await rm(tarball);
};

const write = async (entry: Entry, folder: string): Promise<void> => {
  const { name: path, type } = entry.header;
  if (type !== 'file' || path.split('/').includes('..')) return;
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await pipeline(entry, createWriteStream(join(folder, path)));
};

const untar = async (stream: NodeJS.ReadableStream, take: (entry: Entry) => Promise<void>): Promise<void> => {
  for await (const entry of stream.pipe(extract())) {
    await take(entry);
    entry.resume();
  }
};

/** Without a configured font, Chromium draws no text. */
const fonts = (folder: string): string => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${folder}/fonts</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir>${folder}/font-cache</cachedir>
</fontconfig>
`;

const start = (folder: string): string => `#!/bin/sh
export LD_LIBRARY_PATH='${folder}/al2023/lib' FONTCONFIG_FILE='${folder}/fonts.conf'
exec '${folder}/chromium' "$@"
`;
