import { copyObject, getObject, type Peek, peekObject, presignGet, presignUpload } from '#platform/store/bucket.ts';
import { objects } from '#platform/store/keys.ts';
import { changeProviderVersion, type Platform, type ProviderVersion, platformName } from './records.ts';

/**
 * Files of a provider version: checksums, their signature and binaries. An upload is accepted once it was copied to a
 * key that uploads cannot write, and matches its checksum.
 */

/** Lifetime of upload and download URLs in seconds. */
const uploadSeconds = 3600;
const downloadSeconds = 900;
const maxBinaryBytes = 500 * 1024 * 1024;
const maxSumsBytes = 64 * 1024;

/** Clients recognize the URLs by `/object/`. */
const sumsUpload = ({ id }: ProviderVersion): string => `object/${id}.SHA256SUMS`;
const signatureUpload = ({ id }: ProviderVersion): string => `object/${id}.SHA256SUMS.sig`;
const binaryUpload = ({ id }: Platform): string => `object/${id}.zip`;

export const sumsUploadUrl = (version: ProviderVersion) => presignUpload(sumsUpload(version), uploadSeconds);
export const signatureUploadUrl = (version: ProviderVersion) => presignUpload(signatureUpload(version), uploadSeconds);
export const binaryUploadUrl = (platform: Platform) => presignUpload(binaryUpload(platform), uploadSeconds);
export const downloadUrl = (key: string) => presignGet(key, downloadSeconds);

interface Accepted {
  key: string;
  sha256: string;
  etag: string;
}

interface Refused {
  error: string;
  etag: string;
}

/** Undefined while there is no upload, or when it changes during the copy. */
const accept = async (
  name: string,
  { versionId, what, maxBytes, refused }: { versionId: string; what: string; maxBytes: number; refused?: string },
): Promise<Accepted | Refused | undefined> => {
  const from = objects.upload(name);
  const upload: Peek | undefined = await peekObject(from, 1);
  if (!upload || upload.etag === refused) return undefined;
  const { etag, size } = upload;
  if (size === 0) return { etag, error: `${what} is empty` };
  if (size > maxBytes) return { etag, error: `${what} has ${size} bytes; at most ${maxBytes} are allowed` };
  const key = objects.providerFile(versionId, etag.replaceAll(/\W/g, ''), what);
  const sha256 = await copyObject(from, key, etag);
  return sha256 === undefined ? undefined : { key, sha256, etag };
};

/** Lines have the form `<64 hex digits>  <file name>`. */
const readSums = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split(/\r?\n/).flatMap((line) => {
      const [, sum, file] = /^([0-9a-f]{64})\s+\*?(\S+)$/.exec(line) ?? [];
      return sum && file ? [[file, sum]] : [];
    }),
  );

/** The part of a version that an upload changes. */
type Change = Record<string, unknown> | undefined;

const sumsOf = async (version: ProviderVersion): Promise<Change> => {
  if (version.sums) return undefined;
  const upload = { versionId: version.id, what: 'SHA256SUMS', maxBytes: maxSumsBytes };
  const accepted = await accept(sumsUpload(version), upload);
  if (!accepted) return undefined;
  if ('error' in accepted) return { error: accepted.error };
  const byFile = readSums((await getObject(accepted.key))?.toString('utf8') ?? '');
  if (Object.keys(byFile).length === 0) return { error: 'SHA256SUMS has no line with a checksum and a file name' };
  return { sums: { key: accepted.key, byFile } };
};

const signatureOf = async (version: ProviderVersion): Promise<Change> => {
  if (version.signatureKey) return undefined;
  const upload = { versionId: version.id, what: 'SHA256SUMS.sig', maxBytes: maxSumsBytes };
  const accepted = await accept(signatureUpload(version), upload);
  if (!accepted) return undefined;
  return 'error' in accepted ? { error: accepted.error } : { signatureKey: accepted.key };
};

const binaryOf = async (version: ProviderVersion, platform: Platform): Promise<Change> => {
  if (platform.key) return undefined;
  const { filename, shasum, refused } = platform;
  const accepted = await accept(binaryUpload(platform), {
    versionId: version.id,
    what: filename,
    maxBytes: maxBinaryBytes,
    refused,
  });
  if (!accepted) return undefined;
  const path = `platforms.${platformName(platform)}`;
  const refuse = (error: string) => ({ [`${path}.error`]: error, [`${path}.refused`]: accepted.etag });
  if ('error' in accepted) return refuse(accepted.error);
  // S3 computed the checksum of the copied object.
  if (accepted.sha256 !== shasum) return refuse(`the upload of ${filename} has the SHA-256 ${accepted.sha256}`);
  return { [`${path}.key`]: accepted.key };
};

const mayStillCome = ({ updatedAt }: ProviderVersion): boolean =>
  Date.now() - Date.parse(updatedAt) < (uploadSeconds + 60) * 1000;

/** Checks for finished uploads. 1 request to S3 per pending file, none once all are accepted. */
export const settle = async (version: ProviderVersion): Promise<ProviderVersion> => {
  const platforms = Object.values(version.platforms);
  const complete = version.sums && version.signatureKey && platforms.every(({ key }) => key);
  if (complete || !mayStillCome(version)) return version;
  const changes = await Promise.all([
    sumsOf(version),
    signatureOf(version),
    ...platforms.map((platform) => binaryOf(version, platform)),
  ]);
  const change: Record<string, unknown> = Object.assign({}, ...changes);
  if (Object.keys(change).length === 0) return version;
  return (await changeProviderVersion(version, change)) ?? version;
};

/** Installable platforms: their binary was accepted, and SHA256SUMS contains its checksum. */
export const installable = ({ sums, signatureKey, platforms }: ProviderVersion): Platform[] =>
  sums && signatureKey
    ? Object.values(platforms).filter(({ key, filename, shasum }) => key && sums.byFile[filename] === shasum)
    : [];

/** Reason why Terraform is not offered a version, shown to users; undefined when it is offered. */
export const problemOf = (version: ProviderVersion): string | undefined => {
  const { sums, signatureKey, error } = version;
  const platforms = Object.values(version.platforms);
  if (installable(version).length > 0) return undefined;
  if (!sums) return error ?? 'SHA256SUMS is not uploaded';
  if (!signatureKey) return error ?? 'the signature of SHA256SUMS is not uploaded';
  const [first] = platforms;
  if (!first) return 'no platform is uploaded';
  if (first.key) return `SHA256SUMS has a different checksum for ${first.filename} than its platform`;
  return first.error ?? `the binary of ${platformName(first)} is not uploaded`;
};
