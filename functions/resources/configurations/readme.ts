import { posix } from 'node:path';
import { gunzip, isArchiveFault, type TarEntry, tarEntries } from '#platform/formats/tar.ts';
import { getObject, putObject } from '#platform/store/bucket.ts';
import { hashSecret as digestOf } from '#platform/store/id.ts';
import { keys, objects } from '#platform/store/keys.ts';
import { update } from '#platform/store/table.ts';
import type { ConfigurationVersion } from './records.ts';

/**
 * The README.md of a configuration. A small uploaded archive can unpack to gigabytes, so it is searched once, with
 * limits on everything, and the result is stored beside the archive.
 */

/** Limits of the search; clients pack files in order of their names. */
export const limits = {
  packedBytes: 4 * 1024 * 1024,
  unpackedBytes: 32 * 1024 * 1024,
  entries: 5000,
  milliseconds: 1500,
};
/** A longer README is cut off here. */
const readmeBytes = 256 * 1024;
/** Longest path considered; names in archives can be megabytes long. */
const maxPath = 4096;

const pathOf = ({ name, isFile }: TarEntry): string =>
  isFile && name.length <= maxPath ? name.replace(/^(?:\.?\/)+/, '').toLowerCase() : '';

/**
 * README of the directory, or else of the root; undefined when the searched part has none.
 * @param directory in the configuration, with or without a slash at the start; empty for the root
 */
export const findReadme = async (archive: Buffer, directory: string): Promise<Buffer | undefined> => {
  const readmePath = posix.join('/', directory, 'readme.md').slice(1).toLowerCase();
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
    // The run that uses a broken archive reports it.
    if (!isArchiveFault(error)) throw error;
  }
  return readme;
};

/** Searches the archive and stores the result. 2 requests to S3 and 1 write. */
const keepReadme = async (version: ConfigurationVersion, directory: string): Promise<string | undefined> => {
  const { key: from, sha256 } = version.archive ?? {};
  const archive = from ? await getObject(from, { from: 0, length: limits.packedBytes }) : undefined;
  const readme = archive && (await findReadme(archive, directory));
  const key = readme ? objects.readme(version.id, digestOf(`${directory}\n${sha256}`)) : null;
  if (readme && key) await putObject(key, new Uint8Array(readme), 'text/markdown');
  await update(keys.configurationVersion(version.id), {
    set: { readme: { directory, key } },
    condition: 'status = :uploaded',
    values: { ':uploaded': 'uploaded' },
  });
  return readme?.toString('utf8');
};

/**
 * README of the working directory, or else of the root; undefined when there is none. Reads the archive on the first
 * request, and again after the working directory changed. An archived configuration keeps the README that was found.
 * @param directory relative to the configuration's root, null for the root
 */
export const readReadme = async (
  version: ConfigurationVersion,
  directory: string | null,
): Promise<string | undefined> => {
  const { readme, status } = version;
  if (status !== 'uploaded' && status !== 'archived') return undefined;
  if (readme?.directory !== (directory ?? '')) {
    return status === 'uploaded' ? keepReadme(version, directory ?? '') : undefined;
  }
  return readme.key === null ? undefined : (await getObject(readme.key))?.toString('utf8');
};
