import { parseExactly } from '#platform/formats/exact-json.ts';
import { getObject, presignUpload } from '#platform/store/bucket.ts';
import { derivedId, newId } from '#platform/store/id.ts';
import { checkContent } from '#platform/store/integrity.ts';
import { type Key, keys, objects } from '#platform/store/keys.ts';
import { batchGet, create, get, query } from '#platform/store/table.ts';
import { countOne, type Workspace } from '#resources/workspaces/records.ts';
import { maxStateBytes } from '#run/limits.ts';
import { isSameState, stateConflict } from '#run/state-identity.ts';
import type { StateSummary } from './content.ts';
import type { StateVersion } from './state-version.ts';

export const tooLarge = (bytes: number) => `The state has ${bytes} bytes; the maximum is ${maxStateBytes}.`;

export interface NewStateVersion {
  workspace: Workspace;
  runId?: string;
  userId?: string;
  serial: number;
  lineage: string;
  md5: string;
  /** Set when the content is known; without it, the version accepts any upload with the right MD5. */
  sha256?: string;
  size?: number;
  /** Skips the checks of serial and lineage, but not of the lock. */
  force: boolean;
  intermediate: boolean;
  rollbackOf?: string;
  ofRunId?: string;
  /**
   * Whether to count it among the workspace's state versions; default true. `when current`: counted by the write that
   * makes it current, for callers that store the content at once.
   */
  counts?: boolean | 'when current';
}

/** Clients upload at once. */
const uploadSeconds = 900;

interface Pointer extends Key {
  stateVersionId: string;
  md5: string;
}

export const getStateVersion = (id: string): Promise<StateVersion | undefined> =>
  get<StateVersion>(keys.stateVersion(id));

/**
 * Eventually consistent, for half the price, except for a version created a moment ago; undefined when it belongs to
 * another run.
 */
export const getStateVersionOfRun = async (id: string, runId: string): Promise<StateVersion | undefined> => {
  const version = (await get<StateVersion>(keys.stateVersion(id), false)) ?? (await getStateVersion(id));
  return version?.runId === runId ? version : undefined;
};

/** Ordered by id; missing versions are left out. 1 read per 100. */
export const getStateVersions = (ids: string[]): Promise<StateVersion[]> =>
  batchGet<StateVersion & Key>(ids.map(keys.stateVersion));

export const stateUploadName = (id: string): string => `${id}.tfstate`;

/** Upload key of a state's JSON form. */
export const jsonUploadName = (id: string): string => `${id}.json`;

/** For the author of a pending version, if they have write permission. */
export const uploadUrls = async ({ id }: StateVersion): Promise<{ state: string; json: string }> => {
  const [state, json] = await Promise.all([
    presignUpload(stateUploadName(id), uploadSeconds),
    presignUpload(jsonUploadName(id), uploadSeconds),
  ]);
  return { state, json };
};

const holdsLock = ({ lock }: Workspace, runId: string | undefined, userId: string | undefined): boolean =>
  lock?.kind === 'run' ? lock.runId === runId : lock?.kind === 'user' && runId === undefined && lock.userId === userId;

/** A version with the same content: the current one, or a pending one, because clients repeat POSTs. */
const findRepeat = async (values: NewStateVersion): Promise<StateVersion | undefined> => {
  const { workspace, serial, lineage, md5, sha256, runId, userId } = values;
  const pointers = await query<Pointer>({
    pk: keys.workspace(workspace.id).pk,
    prefix: keys.workspaceStateVersion(workspace.id, serial, '').sk,
  });
  const same = pointers.filter((pointer) => pointer.md5 === md5).map(({ stateVersionId }) => stateVersionId);
  const versions = (await Promise.all(same.map(getStateVersion))).filter((version) => version?.lineage === lineage);
  const isOwn = (version: StateVersion) =>
    version.runId === runId && version.userId === userId && version.sha256 === sha256;
  return (
    versions.find((version) => version?.id === workspace.state?.id) ??
    versions.find((version) => version?.status === 'pending' && isOwn(version))
  );
};

/**
 * The same state of the same run gets the same id, so that a repeat finds it without a query. Requires the checksum
 * of the content, which rules out a collision with other content.
 */
const ownId = ({ runId, serial, lineage, md5, sha256 }: NewStateVersion): string | undefined =>
  runId && sha256 ? derivedId('sv', [runId, serial, lineage, md5, sha256].join(' ')) : undefined;

/** The current version, if it already has this content from the run. */
const currentIfSame = async ({
  workspace: { state },
  ...values
}: NewStateVersion): Promise<StateVersion | undefined> =>
  state && isSameState(state, values) ? getStateVersion(state.id) : undefined;

/**
 * Announces a new state of the workspace. `stored`: the content is already stored. 3 writes, or 2 if it is counted
 * later; 1 read when the content is not known. `conflict` explains to users why the state may not follow the current
 * one.
 */
export const createStateVersion = async (
  values: NewStateVersion,
): Promise<{ stateVersion: StateVersion; stored: boolean } | { conflict: string }> => {
  const { workspace, force, size, counts = true, ...rest } = values;
  if (!holdsLock(workspace, values.runId, values.userId)) {
    return { conflict: `Workspace ${workspace.name} must be locked by you before you write its state. Lock it first.` };
  }
  if (size !== undefined && size > maxStateBytes) return { conflict: tooLarge(size) };
  const lineage = values.lineage || workspace.state?.lineage || '';
  const conflict = force ? undefined : stateConflict(workspace.state, { ...values, lineage });
  if (conflict) return { conflict };
  const own = ownId(values);
  const repeat = await (own ? currentIfSame(values) : findRepeat(values));
  const id = own ?? newId('sv');
  let stateVersion: StateVersion = repeat ?? {
    ...rest,
    id,
    ...(values.sha256 === undefined ? { uploadKey: objects.upload(stateUploadName(id)) } : {}),
    organization: workspace.organization,
    workspaceId: workspace.id,
    status: 'pending',
    createdAt: new Date().toISOString(),
    previousId: workspace.state?.id,
    ...(counts === 'when current' ? { uncounted: true as const } : {}),
    ...(force ? { replaces: workspace.state?.id ?? null } : {}),
  };
  if (!repeat) {
    const isNew = await create({ ...keys.stateVersion(id), ...stateVersion });
    const before = isNew || !own ? undefined : await getStateVersion(own);
    if (before?.status === 'pending' || (before && before.id === workspace.state?.id)) {
      stateVersion = before;
    } else if (before) {
      // The earlier version was discarded; a new one may succeed now.
      stateVersion = { ...stateVersion, id: newId('sv') };
      await create({ ...keys.stateVersion(stateVersion.id), ...stateVersion });
    }
    const { id: stateVersionId, serial, md5 } = stateVersion;
    const listed = { ...keys.workspaceStateVersion(workspace.id, serial, stateVersionId), stateVersionId, md5 };
    const isListed = await create(listed);
    if (counts === true && (isListed || isNew)) await countOne(workspace.id, 'stateVersionCount');
  }
  return { stateVersion, stored: stateVersion.status !== 'pending' };
};

/**
 * Outputs with values, and the resources of the state; undefined before the version is finalized.
 * @throws {DamagedContentError}
 */
export const readSummary = async (version: StateVersion): Promise<StateSummary | undefined> => {
  const { id, workspaceId, outputsSha256 } = version;
  const object = await getObject(objects.outputs(workspaceId, id, outputsSha256));
  if (!object) return undefined;
  checkContent(`The summary of state version ${id}`, object, outputsSha256);
  return parseExactly(object.toString('utf8')) as StateSummary;
};
