import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { access, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { RefusedError, TransportError } from '../errors.ts';
import { open } from '../http.ts';
import { retrying, within } from '../retry.ts';
import type { Settings } from '../settings.ts';
import { hashicorpKey } from './hashicorp-key.ts';
import { platform } from './platform.ts';
import { verifySignature } from './signature.ts';
import { unzipFile } from './unzip.ts';

/**
 * Terraform from releases.hashicorp.com, by checksums that HashiCorp signed; OpenTofu from its GitHub releases, by the
 * checksums beside it. Not by @hashicorp/js-releases, which accepts checksums signed by anybody (seen with 1.7.7).
 */

export type Engine = 'terraform' | 'tofu';
type Releases = Settings['releases'];

/** Lists, checksums and signatures are small: whoever has not answered by then cannot be reached. */
const smallMs = 10_000;
/** For connection errors, which come back fast. */
const againMs = 2000;
const wholeMs = 300_000;
const idleMs = 10_000;
const mostRedirects = 5;
/** Key id in the name of the signature file (hashicorp.com/trust/security). */
const signatureSuffix = '72D7468F.sig';

const answered = (url: string, status: number): void => {
  if (status === 200) return;
  if (status >= 500 || status === 429) throw new TransportError(`${url}: HTTP ${status}`);
  throw new RefusedError(`${url}: HTTP ${status}`, status);
};

const redirected = (from: string, location: string | undefined): string => {
  const to = new URL(location ?? '', from);
  if (to.protocol !== new URL(from).protocol) throw new Error(`${from} redirects to another protocol`);
  return to.href;
};

const get = async (url: string, signal: AbortSignal) => {
  let address = url;
  for (let n = 0; n <= mostRedirects; n++) {
    const answer = await open(address, { method: 'GET', signal, idleMs });
    const status = answer.statusCode ?? 0;
    if (status < 300 || status >= 400) {
      if (status !== 200) answer.resume();
      answered(url, status);
      return answer;
    }
    answer.resume();
    address = redirected(address, answer.headers.location);
  }
  throw new Error(`${url}: too many redirects`);
};

const small = async (url: string, signal: AbortSignal): Promise<Buffer> => {
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(smallMs)]);
  return retrying(
    async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of await get(url, bounded)) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks);
    },
    within(againMs, bounded),
  );
};

/** Every released version, in no order. */
export const listVersions = async (engine: Engine, releases: Releases, signal: AbortSignal): Promise<string[]> => {
  if (engine === 'terraform') {
    const index = JSON.parse((await small(`${releases.terraform}/index.json`, signal)).toString('utf8'));
    return Object.keys((index as { versions: Record<string, unknown> }).versions);
  }
  const index = JSON.parse((await small(releases.tofuIndex, signal)).toString('utf8'));
  return (index as { versions: { id: string }[] }).versions.map(({ id }) => id);
};

const names = (engine: Engine, version: string, releases: Releases) => {
  const directory = engine === 'terraform' ? `${releases.terraform}/${version}` : `${releases.tofu}/v${version}`;
  const archive = `${engine}_${version}_${platform}.zip`;
  return { archive, url: `${directory}/${archive}`, sums: `${directory}/${engine}_${version}_SHA256SUMS` };
};

const checksum = async (
  engine: Engine,
  { archive, sums }: ReturnType<typeof names>,
  key: string,
  signal: AbortSignal,
): Promise<string> => {
  const [list, signature] = await Promise.all([
    small(sums, signal),
    engine === 'terraform' ? small(`${sums}.${signatureSuffix}`, signal) : undefined,
  ]);
  if (signature) {
    await verifySignature(list, signature, key).catch((error: Error) => {
      throw new Error(`the signature of ${sums} is not good: ${error.message}`, { cause: error });
    });
  }
  for (const line of list.toString('utf8').split('\n')) {
    const [sum, name] = line.trim().split(/\s+/);
    if (sum && name === archive) return sum.toLowerCase();
  }
  throw new Error(`${sums} does not list ${archive}`);
};

export interface Download {
  engine: Engine;
  version: string;
  releases: Releases;
  /** Binaries are kept in `<directory>/<engine>/<version>/<engine>`. */
  directory: string;
  signal: AbortSignal;
  /** Armored OpenPGP key that must have signed Terraform's checksums. */
  key?: string;
}

/**
 * Path of the binary, verified. Two runners may download the same at once; both end with a whole file.
 * @throws {Error} when it cannot be had, or is not what was signed
 */
export const downloadBinary = async (download: Download): Promise<string> => {
  const { engine, version, releases, directory, signal, key = hashicorpKey } = download;
  const files = names(engine, version, releases);
  const target = join(directory, engine, version);
  await mkdir(join(directory, engine), { recursive: true });
  const scratch = await mkdtemp(join(directory, engine, '.download-'));
  try {
    const expected = await checksum(engine, files, key, signal);
    const archive = join(scratch, 'archive.zip');
    const actual = await fetchFile(files.url, archive, signal);
    if (actual !== expected) throw new Error(`${files.url} has checksum ${actual} instead of ${expected}`);
    await mkdir(join(scratch, 'unpacked'));
    await unzipFile(archive, engine, join(scratch, 'unpacked', engine), 0o755);
    await rename(join(scratch, 'unpacked'), target).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
      await access(join(target, engine));
    });
    return join(target, engine);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
};

/** Returns the hex SHA-256 of what was written. */
const fetchFile = async (url: string, file: string, signal: AbortSignal): Promise<string> => {
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(wholeMs)]);
  const hash = createHash('sha256');
  await pipeline(
    await get(url, bounded),
    async function* (source) {
      for await (const chunk of source as AsyncIterable<Buffer>) {
        hash.update(chunk);
        yield chunk;
      }
    },
    createWriteStream(file),
    { signal: bounded },
  );
  return hash.digest('hex');
};
