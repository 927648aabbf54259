import { copyObject, peekObject, presignUpload } from '#platform/store/bucket.ts';
import { keys, objects } from '#platform/store/keys.ts';
import { update } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { byVersion } from '../versions.ts';
import { ingest } from './ingest.ts';
import {
  getModule,
  getModuleVersion,
  listVersions,
  type Module,
  type ModuleVersion,
  type Published,
} from './records.ts';

/** Archives of module versions: accepts an upload or a fetched commit as the content of its version. */

const maxModuleBytes = 100 * 1024 * 1024;
/** Lifetime of an upload URL in seconds. */
const uploadSeconds = 3600;

/** Clients recognize the URL by `/object/`. */
const uploadName = ({ id }: Pick<ModuleVersion, 'id'>): string => `object/${id}.tar.gz`;

export const moduleUploadUrl = (version: ModuleVersion): Promise<string> =>
  presignUpload(uploadName(version), uploadSeconds);

/** Whether its upload URL is valid, or was a moment ago. */
const mayStillCome = ({ createdAt }: ModuleVersion): boolean =>
  Date.now() - Date.parse(createdAt) < (uploadSeconds + 60) * 1000;

const sizeFaultOf = (size: number): string | undefined => {
  if (size === 0) return 'The upload is empty. Upload a gzip-compressed tar archive.';
  return size > maxModuleBytes ? `The archive has ${size} bytes; at most ${maxModuleBytes} are allowed.` : undefined;
};

/**
 * Once the upload has finished, copies it to a key that uploads cannot write, and reads its content. One request to
 * S3 while pending, none afterwards. Concurrent calls have the same result.
 */
const settle = async (address: Module, version: ModuleVersion): Promise<ModuleVersion> => {
  if (version.status !== 'pending' || !mayStillCome(version)) return version;
  const from = objects.upload(uploadName(version));
  const upload = await peekObject(from, 2);
  if (!upload) return version;
  const digest = upload.etag.replaceAll(/\W/g, '');
  const archiveKey = objects.moduleArchive(version.id, digest);
  const sizeFault = sizeFaultOf(upload.size);
  if (!sizeFault && (await copyObject(from, archiveKey, upload.etag)) === undefined) return version;
  const { detailsKey, error } = sizeFault
    ? { error: sizeFault }
    : await ingest(archiveKey, address, { id: version.id, digest });
  const settled = await update<ModuleVersion>(keys.moduleVersion(version.moduleId, version.version), {
    set: error ? { status: 'reg_ingress_failed', error } : { status: 'ok', archiveKey, detailsKey },
    condition: '#status = :pending AND id = :id',
    values: { ':pending': 'pending', ':id': version.id },
  });
  return settled ?? (await getModuleVersion(version.moduleId, version.version)) ?? version;
};

/**
 * Completes a version with the archive of its commit, or with the failure. False while the version does not exist.
 * Can be repeated.
 */
export const settleCommitOfModule = async (
  { moduleId, version }: Pick<ModuleVersion, 'moduleId' | 'version'>,
  fetched: { key: string; sha256?: string } | { failure: string },
): Promise<boolean> => {
  const module = await getModule(moduleId);
  const current = module && (await getModuleVersion(moduleId, version));
  if (!current) return module === undefined;
  if (current.status !== 'cloning') return true;
  let outcome: Partial<ModuleVersion>;
  if ('failure' in fetched) outcome = { status: 'clone_failed', error: fetched.failure };
  else {
    const digest = fetched.sha256 ?? 'commit';
    const archiveKey = objects.moduleArchive(current.id, digest);
    const copied = await copyObject(fetched.key, archiveKey);
    const { detailsKey, error } =
      copied === undefined
        ? { error: 'The commit’s archive was deleted.' }
        : await ingest(archiveKey, module, { id: current.id, digest });
    outcome = error ? { status: 'reg_ingress_failed', error } : { status: 'ok', archiveKey, detailsKey };
  }
  await update<ModuleVersion>(keys.moduleVersion(moduleId, version), {
    set: { ...outcome, updatedAt: now() },
    condition: '#status = :cloning AND id = :id',
    values: { ':cloning': 'cloning', ':id': current.id },
  });
  return true;
};

/** The module with its versions, newest first. 1 query, and a request to S3 per version with a pending upload. */
export const published = async (module: Module): Promise<Published> => {
  const versions = (await listVersions(module.id)).sort(byVersion);
  return { module, versions: await Promise.all(versions.map((version) => settle(module, version))) };
};

/** 1 read, and a request to S3 while the version's upload is pending. */
export const getSettledVersion = async (module: Module, version: string): Promise<ModuleVersion | undefined> => {
  const stored = await getModuleVersion(module.id, version);
  return stored && settle(module, stored);
};
