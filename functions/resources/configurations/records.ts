import { copyObject, type Peek, peekObject, presignUpload } from '#platform/store/bucket.ts';
import { newId } from '#platform/store/id.ts';
import { type Key, keys, objects } from '#platform/store/keys.ts';
import { batchGet, create, get, put, query, update, updateExisting } from '#platform/store/table.ts';
import { countOne, type Workspace } from '#resources/workspaces/records.ts';
import { maxArchiveBytes } from '#run/limits.ts';
import type { Ingress, Run } from '#run/run.ts';

/** Sources in the API; a run has the source of its configuration version. */
export type Source =
  | 'tfe-api'
  | 'tfe-ui'
  | 'terraform'
  | 'terraform+cloud'
  | 'tfe-configuration-version'
  | 'tfe-module'
  | 'github'
  | 'gitlab'
  | 'gitea'
  | 'bitbucket'
  | 'ado';

export interface ConfigurationVersion {
  id: string;
  organization: string;
  workspaceId: string;
  status:
    | 'pending'
    /** The commit's archive is being downloaded from version control. */
    | 'fetching'
    | 'uploaded'
    | 'errored'
    | 'archived'
    | 'backing_data_soft_deleted'
    | 'backing_data_permanently_deleted';
  autoQueueRuns: boolean;
  speculative: boolean;
  /** For a saved plan: the version becomes the workspace's current configuration only when that plan is applied. */
  provisional: boolean;
  /** When a provisional version became the workspace's current one. */
  adoptedAt?: string;
  source: Source;
  ingress?: Ingress;
  createdBy: string;
  createdAt: string;
  statusTimestamps: Record<string, string>;
  /** Id of the run that the upload or the command line creates, so that repeated requests create one run. */
  runId: string;
  /** Runs that were created before the upload finished. */
  awaitedBy?: Set<string>;
  /** Runs created from a commit since its archive was last checked (version-control/archive-unused.ts). */
  usedBy?: Set<string>;
  /** Shown to users when `status` is errored. */
  errorMessage?: string;
  /** Size of the uploaded archive in bytes. */
  size?: number;
  /** Key of the client's upload. */
  uploadKey?: string;
  /** Accepted content at a key that uploads cannot write. */
  archive?: Archive;
  /**
   * For a version from version control: the commit's record (version-control/archives.ts), and the changed files that
   * have been requested.
   */
  commitArchive?: string;
  /** Decides which of its runs count for the commit's status. */
  commit?: Run['commit'];
  changedFiles?: string[];
  /** Result of the search for a README in this working directory; `key` is null when there is none. */
  readme?: { directory: string; key: string | null };
}

/** The accepted content, which is reviewed, planned and applied. */
export interface Archive {
  key: string;
  /** Hex. */
  sha256: string;
}

/** Maximum size of an archive, compressed. */

/** Lifetime of an upload URL in seconds. */
const uploadSeconds = 3600;

export type NewConfigurationVersion = Pick<
  ConfigurationVersion,
  'organization' | 'workspaceId' | 'autoQueueRuns' | 'speculative' | 'provisional' | 'source' | 'ingress' | 'createdBy'
>;

const uploadName = (id: string): string => `${id}.tar.gz`;

/** Accepts any content; it is checked when the upload is accepted. */
export const configurationUploadUrl = ({ id }: ConfigurationVersion): Promise<string> =>
  presignUpload(uploadName(id), uploadSeconds);

export const createConfigurationVersion = async (
  attributes: NewConfigurationVersion,
): Promise<ConfigurationVersion> => {
  const createdAt = new Date().toISOString();
  const id = newId('cv');
  const version: ConfigurationVersion = {
    ...attributes,
    id,
    uploadKey: objects.upload(uploadName(id)),
    status: 'pending',
    createdAt,
    statusTimestamps: { 'queued-at': createdAt },
    runId: newId('run'),
  };
  await create({ ...keys.configurationVersion(version.id), ...version });
  await create({
    ...keys.workspaceConfigurationVersion(version.workspaceId, createdAt, version.id),
    configurationVersionId: version.id,
  });
  const becomes = !version.speculative && !version.provisional;
  await countOne(version.workspaceId, 'configurationVersionCount', becomes ? { newestConfigurationId: id } : {});
  return version;
};

/** Creates a version whose content was already accepted. 3 writes. */
export const adoptArchive = async (
  attributes: NewConfigurationVersion,
  archive: Archive,
): Promise<ConfigurationVersion> => {
  const at = new Date().toISOString();
  const version: ConfigurationVersion = {
    ...attributes,
    id: newId('cv'),
    archive,
    status: 'uploaded',
    createdAt: at,
    statusTimestamps: { 'queued-at': at, 'uploaded-at': at },
    runId: newId('run'),
  };
  await create({ ...keys.configurationVersion(version.id), ...version });
  await create({
    ...keys.workspaceConfigurationVersion(version.workspaceId, at, version.id),
    configurationVersionId: version.id,
  });
  await countOne(version.workspaceId, 'configurationVersionCount');
  return version;
};

/**
 * Creates the version of a commit; can be repeated. `createdAt` is the time at which the platform learned of the
 * commit, which decides which version is the workspace's newest.
 */
export const createCommitVersion = async (
  attributes: Omit<ConfigurationVersion, 'uploadKey' | 'runId' | 'statusTimestamps'>,
): Promise<ConfigurationVersion> => {
  const version: ConfigurationVersion = {
    ...attributes,
    runId: newId('run'),
    statusTimestamps: { 'queued-at': attributes.createdAt, 'fetching-at': attributes.createdAt },
  };
  const { id, workspaceId, createdAt } = version;
  await put({ ...keys.workspaceConfigurationVersion(workspaceId, createdAt, id), configurationVersionId: id });
  if (await create({ ...keys.configurationVersion(id), ...version })) {
    await countOne(workspaceId, 'configurationVersionCount');
    if (!version.speculative && !version.provisional) await becomeCurrent(version);
    return version;
  }
  return (await getConfigurationVersion(id)) ?? version;
};

/** The stored record; see {@link checkUpload} for a pending one. */
export const getConfigurationVersion = (id: string, consistent = true): Promise<ConfigurationVersion | undefined> =>
  get<ConfigurationVersion>(keys.configurationVersion(id), consistent);

/** Makes it the workspace's current version, unless a newer one is current. Can be repeated. */
export const becomeCurrent = async ({ id, workspaceId, createdAt: at }: ConfigurationVersion): Promise<void> => {
  await updateExisting(keys.workspace(workspaceId), {
    set: { configuration: { id, at } },
    condition: 'attribute_not_exists(configuration) OR configuration.at < :at',
    values: { ':at': at },
  });
};

const gzipMagic = Buffer.from([0x1f, 0x8b]);

const faultOf = ({ size, head }: Peek): string | undefined => {
  if (size === 0) return 'The uploaded configuration is empty. Upload a gzip-compressed tar archive (.tar.gz).';
  if (!head.equals(gzipMagic)) {
    return 'The uploaded configuration is not a gzip file. Upload a gzip-compressed tar archive (.tar.gz).';
  }
  if (size > maxArchiveBytes) {
    return `The uploaded configuration has ${size} bytes; at most ${maxArchiveBytes} are allowed. Exclude files that Terraform does not need with a .terraformignore file.`;
  }
  return undefined;
};

/**
 * Copies exactly the inspected content to a key that uploads cannot write. Undefined when the upload was replaced
 * meanwhile. Concurrent calls have the same result.
 */
const accept = async (id: string, from: string, { etag }: Peek): Promise<Archive | undefined> => {
  const key = objects.configuration(id, etag.replaceAll(/\W/g, ''));
  const sha256 = await copyObject(from, key, etag);
  return sha256 === undefined ? undefined : { key, sha256 };
};

/**
 * Checks whether the upload has finished; if so, accepts it and sets the status. S3 sends its event with a delay, and
 * clients wait for the status. One request to S3 while pending, one copy on acceptance, none afterwards.
 */
export const checkUpload = async (version: ConfigurationVersion): Promise<ConfigurationVersion> => {
  if (version.status !== 'pending') return version;
  const from = objects.upload(uploadName(version.id));
  const object = await peekObject(from, gzipMagic.length);
  if (!object) return version;
  const fault = faultOf(object);
  const archive = fault ? undefined : await accept(version.id, from, object);
  if (!fault && !archive) return version;
  const status = fault ? 'errored' : 'uploaded';
  // The workspace's current version first, because an uploaded version is not checked again.
  if (!fault && !version.speculative && !version.provisional) await becomeCurrent(version);
  const at = new Date().toISOString();
  const updated = await update<ConfigurationVersion>(keys.configurationVersion(version.id), {
    set: {
      status,
      size: object.size,
      archive,
      errorMessage: fault,
      [`statusTimestamps.${fault ? 'errored-at' : 'uploaded-at'}`]: at,
      'statusTimestamps.finished-at': at,
    },
    condition: '#status = :pending',
    values: { ':pending': 'pending' },
  });
  return updated ?? (await getConfigurationVersion(version.id)) ?? version;
};

/** Makes a provisional version the workspace's current one after its saved plan was applied. Can be repeated. */
export const adoptConfigurationVersion = async (id: string): Promise<void> => {
  const version = await getConfigurationVersion(id);
  if (!version?.provisional) return;
  await becomeCurrent(version);
  await updateExisting(keys.configurationVersion(id), {
    set: { adoptedAt: new Date().toISOString() },
    condition: 'attribute_not_exists(adoptedAt)',
  });
};

export interface Pointer extends Key {
  configurationVersionId: string;
}

/** Ordered by id; missing versions are left out. 1 read per 100. */
export const getConfigurationVersions = (ids: string[]): Promise<ConfigurationVersion[]> =>
  batchGet<ConfigurationVersion & Key>(ids.map(keys.configurationVersion));

export const versionsOf = (pointers: Pointer[]) =>
  getConfigurationVersions(pointers.map(({ configurationVersionId }) => configurationVersionId));

/** Newest first. Reads the versions of the page, and pointers up to it. */
export const listConfigurationVersions = async (
  { id, configurationVersionCount: total = 0 }: Pick<Workspace, 'id' | 'configurationVersionCount'>,
  { page, size }: { page: number; size: number },
): Promise<{ items: ConfigurationVersion[]; total: number }> => {
  const from = (page - 1) * size;
  if (from >= total) return { items: [], total };
  const { pk } = keys.workspace(id);
  const pointers = await query<Pointer>({ pk, prefix: 'CV#', reverse: true, limit: from + size });
  return { items: await versionsOf(pointers.slice(from)), total };
};

/** Whether its upload URL is still valid. */
export const mayStillBeUploaded = ({ createdAt }: ConfigurationVersion): boolean =>
  Date.now() - Date.parse(createdAt) < uploadSeconds * 1000;
