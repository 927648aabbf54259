import { getLargeObject, getObject, getObjectUpTo, presignUpload, putObject } from '#platform/store/bucket.ts';
import { hashSecret as digestOf, newId } from '#platform/store/id.ts';
import { type Key, keys, objects } from '#platform/store/keys.ts';
import { updateRecord } from '#platform/store/records.ts';
import { batchGet, create, get, queryAll, update } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import type { Compile } from './content.ts';
import { type ArchiveLimits, archiveLimits, readArchive } from './engine/archive.ts';
import { type Bundle, bundleOf } from './engine/bundle.ts';
import { PolicySetError } from './engine/policy-blocks.ts';
import { getPolicySet, type PolicySet, toolVersionOf } from './set-records.ts';

/** Versions of a policy set: archives that clients upload directly to the bucket (HCP API: policy set versions). */
export interface PolicySetVersion {
  id: string;
  policySetId: string;
  organization: string;
  status: 'pending' | 'ingressing' | 'ready' | 'errored';
  statusTimestamps: Record<string, string>;
  createdAt: string;
  updatedAt: string;
  /** Key of the bundle, set once the version is ready; later uploads are ignored. */
  bundleKey?: string;
  policyCount?: number;
  /** Shown to users when `status` is errored. */
  errorMessage?: string;
  /** Why its policies were not compiled; absent if they compile. */
  uncompiled?: string;
  /** For a version from version control: its commit, and the provider's name for `source`. */
  ingress?: { commitSha: string; commitUrl: string; identifier: string };
  source?: string;
}

/** How long an upload URL is valid, in seconds. */
const uploadSeconds = 3600;

const uploadName = (id: string): string => `${id}.tar.gz`;

/** Accepts any content; it is checked when it is read. */
export const policyUploadUrl = ({ id }: PolicySetVersion): Promise<string> =>
  presignUpload(uploadName(id), uploadSeconds);

const keep = async (version: PolicySetVersion): Promise<PolicySetVersion | undefined> => {
  const { id, policySetId, createdAt } = version;
  await create({ ...keys.policySetVersion(id), ...version });
  await create({ ...keys.versionOfPolicySet(policySetId, createdAt, id), policySetVersionId: id });
  const noted = await updateRecord<PolicySet>(keys.policySet(policySetId), {
    set: { newestVersionId: id, newestVersionAt: createdAt, updatedAt: now() },
    condition: 'attribute_not_exists(newestVersionAt) OR newestVersionAt <= :at',
    values: { ':at': createdAt },
  });
  return noted || (await getPolicySet(policySetId)) ? version : undefined;
};

/** Undefined when the set was deleted. */
export const createPolicySetVersion = (set: PolicySet): Promise<PolicySetVersion | undefined> => {
  const createdAt = now();
  return keep({
    id: newId('polsetver'),
    policySetId: set.id,
    organization: set.organization,
    status: 'pending',
    statusTimestamps: { 'pending-at': createdAt },
    createdAt,
    updatedAt: createdAt,
  });
};

/**
 * Creates a version whose archive is being fetched ({@link settleCommitOfPolicies}). Can be repeated. Undefined when
 * the set is deleted.
 */
export const createPolicyCommit = (
  set: Pick<PolicySet, 'id' | 'organization'>,
  of: Required<Pick<PolicySetVersion, 'id' | 'createdAt' | 'ingress' | 'source'>>,
): Promise<PolicySetVersion | undefined> =>
  keep({
    ...of,
    policySetId: set.id,
    organization: set.organization,
    status: 'ingressing',
    statusTimestamps: { 'pending-at': of.createdAt, 'ingressing-at': of.createdAt },
    updatedAt: of.createdAt,
  });

export const getPolicySetVersion = (id: string): Promise<PolicySetVersion | undefined> =>
  get<PolicySetVersion>(keys.policySetVersion(id));

/** Newest first. Reads all pointers, and the versions of the page. */
export const listPolicySetVersions = async (
  setId: string,
  { page, size }: { page: number; size: number },
): Promise<{ items: PolicySetVersion[]; total: number }> => {
  const pointers = await queryAll<Key & { policySetVersionId: string }>({
    pk: keys.policySet(setId).pk,
    prefix: 'VERSION#',
    reverse: true,
  });
  const shown = pointers.slice((page - 1) * size, page * size);
  const items = await batchGet<PolicySetVersion & Key>(
    shown.map(({ policySetVersionId }) => keys.policySetVersion(policySetVersionId)),
  );
  return { items, total: pointers.length };
};

type Ingested = Pick<PolicySetVersion, 'status' | 'bundleKey' | 'policyCount' | 'errorMessage' | 'uncompiled'>;

/**
 * @param archive its content, or its size in bytes when it is too large
 * @param compile undefined where the engine cannot be reached
 */
const ingest = async (
  { id }: PolicySetVersion,
  set: PolicySet,
  archive: Buffer | number,
  limits: ArchiveLimits,
  compile: Compile | undefined,
): Promise<Ingested> => {
  try {
    if (typeof archive === 'number') {
      throw new PolicySetError(
        `The archive has ${archive} bytes; at most ${limits.packedBytes} are allowed. Pack only policies.`,
      );
    }
    const { policiesPath, kind } = set;
    const root = (policiesPath ?? '').replace(/^\.?\/+|\/+$/g, '');
    const bundle = bundleOf(await readArchive(archive, root, limits), kind, root);
    const content = JSON.stringify(bundle);
    const bundleKey = objects.policyBundle(id, digestOf(content));
    await putObject(bundleKey, content, 'application/json');
    const { error, uncompiled } = compile
      ? await compile({ kind, toolVersion: toolVersionOf(set), bundleKey })
      : { uncompiled: 'a run needed it before it was read' };
    if (error !== undefined) throw new PolicySetError(`The policies do not compile: ${error}`);
    return { status: 'ready', bundleKey, policyCount: bundle.policies.length, uncompiled };
  } catch (error) {
    if (error instanceof PolicySetError) return { status: 'errored', errorMessage: error.message };
    throw error;
  }
};

/** Makes it the set's current version, unless a newer one is current. Can be repeated. */
const makeCurrent = (version: PolicySetVersion): Promise<PolicySet | undefined> =>
  updateRecord<PolicySet>(keys.policySet(version.policySetId), {
    set: {
      currentVersionId: version.id,
      currentVersionAt: version.createdAt,
      currentPolicyCount: version.policyCount,
    },
    condition: 'attribute_not_exists(currentVersionAt) OR currentVersionAt <= :at',
    values: { ':at': version.createdAt },
  });

/**
 * Checks whether the upload has finished; if so, reads it and sets the status, because clients wait for the status
 * and S3's events arrive late. One request to S3 while pending, none afterwards.
 */
export const checkPolicyUpload = async (version: PolicySetVersion, compile?: Compile): Promise<PolicySetVersion> => {
  const set = version.status === 'pending' ? await getPolicySet(version.policySetId) : undefined;
  const upload = set && (await getObjectUpTo(objects.upload(uploadName(version.id)), archiveLimits.packedBytes));
  if (upload === undefined) return version;
  return (await settle(version, await ingest(version, set as PolicySet, upload, archiveLimits, compile))) ?? version;
};

const settle = async (version: PolicySetVersion, ingested: Ingested): Promise<PolicySetVersion | undefined> => {
  const at = now();
  const updated =
    (await update<PolicySetVersion>(keys.policySetVersion(version.id), {
      set: {
        ...ingested,
        updatedAt: at,
        ...(version.status === 'pending' ? { 'statusTimestamps.ingressing-at': at } : {}),
        [`statusTimestamps.${ingested.status}-at`]: at,
      },
      condition: '#status = :open',
      values: { ':open': version.status },
    })) ?? (await getPolicySetVersion(version.id));
  if (updated?.status === 'ready') await makeCurrent(updated);
  return updated;
};

/** Other files of the repository count only against the limits of a commit (version-control/repack.ts). */
const commitLimits = { packedBytes: 100 * 1024 * 1024, unpackedBytes: 1024 ** 3, files: archiveLimits.files };

/**
 * Completes a version with its commit's archive, or with the failure. False while the version does not exist. Can be
 * repeated.
 */
export const settleCommitOfPolicies = async (
  versionId: string,
  fetched: { key: string } | { failure: string },
  compile: Compile,
): Promise<boolean> => {
  const version = await getPolicySetVersion(versionId);
  if (!version) return false;
  const set = await getPolicySet(version.policySetId);
  if (!set) return true;
  if (version.status === 'ready') await makeCurrent(version);
  if (version.status !== 'ingressing') return true;
  const archive = 'key' in fetched ? await getLargeObject(fetched.key, commitLimits.packedBytes) : undefined;
  const failure = 'failure' in fetched ? fetched.failure : 'The commit’s archive was deleted.';
  const ingested: Ingested =
    archive === undefined
      ? { status: 'errored', errorMessage: failure }
      : await ingest(version, set, archive, commitLimits, compile);
  await settle(version, ingested);
  return true;
};

/** Maximum number of versions to check when newer ones were created but never uploaded. */
const maxAwaited = 5;

/** The set with its latest upload, even if that was not read yet or its reader was interrupted. */
export const withNewestVersion = async (set: PolicySet, compile?: Compile): Promise<PolicySet> => {
  if (!set.newestVersionId || set.newestVersionId === set.currentVersionId) return set;
  const { items } = await listPolicySetVersions(set.id, { page: 1, size: maxAwaited });
  for (const version of items) {
    if (version.createdAt <= (set.currentVersionAt ?? '')) break;
    const checked = await checkPolicyUpload(version, compile);
    if (checked.status === 'ready') return (await makeCurrent(checked)) ?? (await getPolicySet(set.id)) ?? set;
  }
  return set;
};

/** @throws {Error} when the object is missing */
export const readBundle = async (bundleKey: string): Promise<Bundle> => {
  const content = await getObject(bundleKey);
  if (!content) throw new Error(`the policies ${bundleKey} are missing`);
  return JSON.parse(content.toString('utf8')) as Bundle;
};
