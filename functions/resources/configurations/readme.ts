import { gunzip, isArchiveFault, type TarEntry, tarEntries } from '#platform/formats/tar.ts';
import { getObject, putObject } from '#platform/store/bucket.ts';
import { hashSecret as digestOf } from '#platform/store/id.ts';
import { keys, objects } from '#platform/store/keys.ts';
import { update } from '#platform/store/table.ts';
import { archiveOf, type ConfigurationVersion } from './records.ts';

/**
 * The README.md of a configuration. Whoever uploads an archive decides how much work it is to unpack, and a megabyte can
 * be gigabytes: it is looked for once, with bounds on everything, and what was found is kept beside the archive.
 */

/** How much of an archive is looked through, at most; clients pack in the order of names. */
export const limits = {
  packedBytes: 4 * 1024 * 1024,
  unpackedBytes: 32 * 1024 * 1024,
  entries: 5000,
  milliseconds: 1500,
};
/** What comes after in a longer one is left out. */
const readmeBytes = 256 * 1024;
/** Longest path considered; names in archives can have megabytes. */
const maxPath = 4096;

const pathOf = ({ name, isFile }: TarEntry): string =>
  isFile && name.length <= maxPath ? name.replace(/^(?:\.?\/)+/, '').toLowerCase() : '';

/**
 * Of the directory, else of the whole; undefined when there is none in the part that is looked through.
 * @param directory relative to the configuration's root, empty for that
 */
export const findReadme = async (archive: Buffer, directory: string): Promise<Buffer | undefined> => {
  const readmePath = `${directory ? `${directory}/` : ''}readme.md`.toLowerCase();
  const take = async ({ content }: TarEntry) => (await content()).subarray(0, readmeBytes);
  let readme: Buffer | undefined;
  let entries = 0;
  try {
    for await (const entry of tarEntries(gunzip(archive, { bytes: limits.unpackedBytes, ms: limits.milliseconds }))) {
      if (++entries > limits.entries) break;
      const path = pathOf(entry);
      if (path === readmePath) return await take(entry);
      if (path === 'readme.md') readme = await take(entry);
    }
  } catch (error) {
    // A broken archive is reported by the run that uses it.
    if (!isArchiveFault(error)) throw error;
  }
  return readme;
};

/** Looks into the archive, and keeps what it found. 2 requests to S3 and 1 write. */
const keepReadme = async (version: ConfigurationVersion, directory: string): Promise<string | undefined> => {
  const archive = await getObject(archiveOf(version).key, { from: 0, length: limits.packedBytes });
  const readme = archive && (await findReadme(archive, directory));
  const key = readme ? objects.readme(version.id, digestOf(`${directory}\n${version.archive?.sha256 ?? ''}`)) : null;
  if (readme && key) await putObject(key, new Uint8Array(readme), 'text/markdown');
  await update(keys.configurationVersion(version.id), {
    set: { readme: { directory, key } },
    condition: 'status = :uploaded',
    values: { ':uploaded': 'uploaded' },
  });
  return readme?.toString('utf8');
};

/**
 * Of the working directory, else of the whole; undefined when there is none. The archive is read for the first who asks,
 * and again when the working directory has changed.
 * @param directory relative to the configuration's root, null for that
 */
export const readReadme = async (
  version: ConfigurationVersion,
  directory: string | null,
): Promise<string | undefined> => {
  if (version.status !== 'uploaded') return undefined;
  const { readme } = version;
  if (readme?.directory !== (directory ?? '')) return keepReadme(version, directory ?? '');
  return readme.key === null ? undefined : (await getObject(readme.key))?.toString('utf8');
};
