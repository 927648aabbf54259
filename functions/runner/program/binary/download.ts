import { access, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fetchFile, fetchSmall } from '#platform/net/binary/fetch.ts';
import { terraformReleases } from '#platform/net/binary/terraform-releases.ts';
import type { Settings } from '../settings.ts';
import { hashicorpKey } from './hashicorp-key.ts';
import { platform } from './platform.ts';
import { isSignedBy } from './signature.ts';
import { unzipFile } from './unzip.ts';

/**
 * Downloads Terraform from releases.hashicorp.com, verified by checksums that HashiCorp signed, and OpenTofu from its
 * GitHub releases, verified by the checksums published there. @hashicorp/js-releases is not used: it accepts
 * checksums signed with any key (observed in 1.7.7).
 */

export type Engine = 'terraform' | 'tofu';
type Releases = Settings['releases'];

/** Key id in the name of the signature file (hashicorp.com/trust/security). */
const signatureSuffix = '72D7468F.sig';

/** All released versions, unsorted. */
export const listVersions = async (engine: Engine, releases: Releases, signal: AbortSignal): Promise<string[]> => {
  if (engine === 'terraform') {
    return (await terraformReleases(releases.terraform, signal)).map(({ version }) => version);
  }
  const index = JSON.parse((await fetchSmall(releases.tofuIndex, signal)).toString('utf8'));
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
    fetchSmall(sums, signal),
    engine === 'terraform' ? fetchSmall(`${sums}.${signatureSuffix}`, signal) : undefined,
  ]);
  if (signature && !isSignedBy(key, list, signature))
    throw new Error(`the signature of ${sums} is not valid: it is not signed by the expected key, or was changed`);
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
 * Path of the verified binary. If two runners download the same version concurrently, each gets a complete file.
 * @throws {Error} if it cannot be downloaded or verified
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
    await unzipFile(archive, engine, join(scratch, 'unpacked', engine), 0o711);
    await rename(join(scratch, 'unpacked'), target).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
      await access(join(target, engine));
    });
    return join(target, engine);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
};
