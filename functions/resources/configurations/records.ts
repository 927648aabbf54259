import { copyObject, type Peek, peekObject, presignUpload } from '#platform/store/bucket.ts';
import { newId } from '#platform/store/id.ts';
import { type Key, keys, objects } from '#platform/store/keys.ts';
import { batchGet, create, get, put, query, update } from '#platform/store/table.ts';
import { countOne, type Workspace } from '#resources/workspaces/records.ts';
import type { Ingress, Run } from '#run/run.ts';

/** Sources the API knows; a run made from it says the same. */
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
    /** Of a commit that is on its way from version control. */
    | 'fetching'
    | 'uploaded'
    | 'errored'
    | 'archived'
    | 'backing_data_soft_deleted'
    | 'backing_data_permanently_deleted';
  autoQueueRuns: boolean;
  speculative: boolean;
  /** For a saved plan: not the workspace's configuration until that is applied. */
  provisional: boolean;
  /** Since when one that was provisional is the workspace's all the same. */
  adoptedAt?: string;
  source: Source;
  ingress?: Ingress;
  createdBy: string;
  createdAt: string;
  statusTimestamps: Record<string, string>;
  /** Id of the run that the upload, or the command line that made this, creates: however often it is asked for. */
  runId: string;
  /** Runs that were created before the upload came. */
  awaitedBy?: Set<string>;
  /** For people, when `status` is errored. */
  errorMessage?: string;
  /** Bytes of the archive once it is there. */
  size?: number;
  /** Where the upload is awaited; absent in versions of before, whose archive stays where it was uploaded to. */
  uploadKey?: string;
  /** What was accepted, where no upload leads; absent in versions of before. */
  archive?: Archive;
  /** Of one from version control: the commit's record (version-control/archives.ts), and what changed, as far as that was asked. */
  commitArchive?: string;
  /** Which runs of it count for the commit's status. */
  commit?: Run['commit'];
  changedFiles?: string[];
  /** Found in the archive, for that working directory; `key` is null when there is none. */
  readme?: { directory: string; key: string | null };
}

/** A configuration as it was accepted: what is reviewed, planned and applied. */
export interface Archive {
  key: string;
  /** Hex; absent in what was accepted before checksums were kept. */
  sha256?: string;
}

/** Where it is read. */
export const archiveOf = ({ id, archive }: Pick<ConfigurationVersion, 'id' | 'archive'>): Archive =>
  archive ?? { key: objects.configuration(id) };

/** What an archive may have at most, packed. */
const maxArchiveBytes = 100 * 1024 * 1024;

/** How long an upload URL is good for, in seconds. */
const uploadSeconds = 3600;

export type NewConfigurationVersion = Pick<
  ConfigurationVersion,
  'organization' | 'workspaceId' | 'autoQueueRuns' | 'speculative' | 'provisional' | 'source' | 'ingress' | 'createdBy'
>;

const uploadName = (id: string): string => `${id}.tar.gz`;

/** Takes any content; what counts is what is there when it is accepted. */
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

/** One whose content was accepted elsewhere. 3 writes. */
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
 * One of a commit; it is there however often it is made. `createdAt` is when the platform learned of the commit: that
 * decides which is the workspace's newest.
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

/** As it was written last; see {@link checkUpload} for one that is still pending. */
export const getConfigurationVersion = (id: string, consistent = true): Promise<ConfigurationVersion | undefined> =>
  get<ConfigurationVersion>(keys.configurationVersion(id), consistent);

/** The workspace's, unless that has one that was created later. May be repeated. */
export const becomeCurrent = async ({ id, workspaceId, createdAt: at }: ConfigurationVersion): Promise<void> => {
  await update(keys.workspace(workspaceId), {
    set: { configuration: { id, at } },
    condition: 'attribute_exists(pk) AND (attribute_not_exists(configuration) OR configuration.at < :at)',
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
 * Takes the very content that was looked at to a place that nobody can upload to; undefined when there is another by now.
 * Whoever does the same at the same time does it with the same result.
 */
const accept = async (id: string, from: string, { etag }: Peek): Promise<Archive | undefined> => {
  const key = objects.configuration(id, etag.replaceAll(/\W/g, ''));
  const sha256 = await copyObject(from, key, etag);
  return sha256 === undefined ? undefined : { key, sha256 };
};

/**
 * Looks whether the upload has come, and if so accepts it and settles the status; S3 tells nobody at once, and clients
 * wait for it. One request to S3 while pending, one copy, none after.
 */
export const checkUpload = async (version: ConfigurationVersion): Promise<ConfigurationVersion> => {
  if (version.status !== 'pending') return version;
  const from = version.uploadKey ?? objects.configuration(version.id);
  const object = await peekObject(from, gzipMagic.length);
  if (!object) return version;
  const fault = faultOf(object);
  const archive = fault ? undefined : await accept(version.id, from, object);
  if (!fault && !archive) return version;
  const status = fault ? 'errored' : 'uploaded';
  // First the workspace's: what is uploaded is not looked at again.
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

/** The saved plan made with it was applied: a provisional one is the workspace's from now on. May be repeated. */
export const adoptConfigurationVersion = async (id: string): Promise<void> => {
  const version = await getConfigurationVersion(id);
  if (!version?.provisional) return;
  await becomeCurrent(version);
  await update(keys.configurationVersion(id), {
    set: { adoptedAt: new Date().toISOString() },
    condition: 'attribute_exists(pk) AND attribute_not_exists(adoptedAt)',
  });
};

export interface Pointer extends Key {
  configurationVersionId: string;
}

/** In the order of the ids; missing ones are left out. 1 read for 100. */
export const getConfigurationVersions = (ids: string[]): Promise<ConfigurationVersion[]> =>
  batchGet<ConfigurationVersion & Key>(ids.map(keys.configurationVersion));

export const versionsOf = (pointers: Pointer[]) =>
  getConfigurationVersions(pointers.map(({ configurationVersionId }) => configurationVersionId));

/** Newest first. Reads the page's versions, and pointers up to it. */
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

/** Its upload URL is still good. */
export const mayStillBeUploaded = ({ createdAt }: ConfigurationVersion): boolean =>
  Date.now() - Date.parse(createdAt) < uploadSeconds * 1000;
