import { parseExactly } from '#platform/formats/exact-json.ts';
import { getObject, presignUpload } from '#platform/store/bucket.ts';
import { derivedId, newId } from '#platform/store/id.ts';
import { checkContent } from '#platform/store/integrity.ts';
import { type Key, keys, objects } from '#platform/store/keys.ts';
import { batchGet, create, get, query } from '#platform/store/table.ts';
import { countOne, type Workspace } from '#resources/workspaces/records.ts';
import { isSameState, stateConflict } from '#run/state-identity.ts';
import type { StateSummary } from './content.ts';
import type { StateVersion } from './state-version.ts';

export const maxStateBytes = 64 * 1024 * 1024;
export const tooLarge = (bytes: number) => `The state has ${bytes} bytes; the maximum is ${maxStateBytes}.`;

export interface NewStateVersion {
  workspace: Workspace;
  runId?: string;
  userId?: string;
  serial: number;
  lineage: string;
  md5: string;
  /** Known when the content is; without it the version takes an upload of any content that has the MD5. */
  sha256?: string;
  size?: number;
  /** Skips the checks of serial and lineage, not the lock. */
  force: boolean;
  intermediate: boolean;
  rollbackOf?: string;
  ofRunId?: string;
  /**
   * In the number of the workspace's state versions; true if missing. `when current`: by the write that makes it current,
   * for who brings the content along.
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

/** The run's, for half the price where it is older than a moment; undefined when it is not that run's. */
export const getStateVersionOfRun = async (id: string, runId: string): Promise<StateVersion | undefined> => {
  const version = (await get<StateVersion>(keys.stateVersion(id), false)) ?? (await getStateVersion(id));
  return version?.runId === runId ? version : undefined;
};

/** In the order of the ids; missing ones are left out. 1 read for 100. */
export const getStateVersions = (ids: string[]): Promise<StateVersion[]> =>
  batchGet<StateVersion & Key>(ids.map(keys.stateVersion));

export const stateUploadName = (id: string): string => `${id}.tfstate`;

/** Upload key of a state's JSON form, which is never announced. */
export const jsonUploadName = (id: string): string => `${id}.json`;

/** For the version's author with write permission, while it is pending. */
export const uploadUrls = async ({ id }: StateVersion): Promise<{ state: string; json: string }> => {
  const [state, json] = await Promise.all([
    presignUpload(stateUploadName(id), uploadSeconds),
    presignUpload(jsonUploadName(id), uploadSeconds),
  ]);
  return { state, json };
};

const holdsLock = ({ lock }: Workspace, runId: string | undefined, userId: string | undefined): boolean =>
  lock?.kind === 'run' ? lock.runId === runId : lock?.kind === 'user' && runId === undefined && lock.userId === userId;

/** The same content again: the current version, or one whose upload has not come yet (clients repeat POSTs). */
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
 * The same state of the same run has the same id, so that a repeated announcement finds it without a query. Only where the
 * content is known, which nobody else's can be.
 */
const ownId = ({ runId, serial, lineage, md5, sha256, force }: NewStateVersion): string | undefined =>
  runId && sha256 && !force ? derivedId('sv', [runId, serial, lineage, md5, sha256].join(' ')) : undefined;

/** Of a run's state, what makes it the workspace's current one already. */
const currentIfSame = async ({
  workspace: { state },
  ...values
}: NewStateVersion): Promise<StateVersion | undefined> =>
  state && isSameState(state, values) ? getStateVersion(state.id) : undefined;

/**
 * A place for a new state of the workspace. `stored`: the content is here already. 3 writes, 2 if counted later; 1 read where its content is not
 * known.
 * `conflict` says in plain words why the state may not follow the current one.
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
      // It could not be kept then; perhaps it can now.
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
 * Outputs with their values, and what the state consists of; undefined before the version is finalized.
 * @throws {DamagedContentError}
 */
export const readSummary = async (version: StateVersion): Promise<StateSummary | undefined> => {
  const { id, workspaceId, outputsSha256 } = version;
  const object = await getObject(objects.outputs(workspaceId, id, outputsSha256));
  if (!object) return undefined;
  checkContent(`What state version ${id} consists of`, object, outputsSha256);
  return parseExactly(object.toString('utf8')) as StateSummary;
};
