import { startNext } from '#lifecycle/queue/queue.ts';
import { getObjectUpTo, listObjects } from '#platform/store/bucket.ts';
import { sha256Of } from '#platform/store/integrity.ts';
import { keys } from '#platform/store/keys.ts';
import { updateRecord } from '#platform/store/records.ts';
import { update } from '#platform/store/table.ts';
import { getOrganization } from '#resources/organizations/records.ts';
import { InvalidStateError, md5Of, parseState } from '#resources/states/content.ts';
import { storeContent } from '#resources/states/finalize.ts';
import { createStateVersion, getStateVersion } from '#resources/states/records.ts';
import { getWorkspace, type Workspace } from '#resources/workspaces/records.ts';
import { maxStateBytes } from '#run/limits.ts';

/**
 * The bucket is never restored: each state is a separate object under its checksum and is not overwritten. States
 * stored after the restore time are still there, and are the latest record of existing resources.
 */

export interface NewerStates {
  statesBroughtIn: { workspaceId: string; serial: number }[];
  /** States that were not recovered, with the reason; an operator has to decide about each. */
  statesLeft: { workspaceId: string; key: string; why: string }[];
}

interface NewerState {
  workspaceId: string;
  id: string;
  key: string;
  sha256: string;
  at: string;
}

/** `states/<workspace>/<state version>/<sha256>.tfstate` (platform/store/keys.ts). */
const stateKey = /^states\/(ws-\w+)\/(sv-\w+)\/([0-9a-f]{64})\.tfstate$/;

/** S3's timestamps have a resolution of one second. */
const isSince = (at: string, since: string): boolean => Date.parse(at) + 1000 > Date.parse(since);

/** The latest state that each workspace stored since then, unless the table has it. */
const findNewest = async (since: string): Promise<NewerState[]> => {
  const newest = new Map<string, NewerState>();
  for await (const { key, modifiedAt: at } of listObjects('states/')) {
    const [, workspaceId = '', id = '', sha256 = ''] = stateKey.exec(key) ?? [];
    if (!workspaceId || !isSince(at, since)) continue;
    const state = { workspaceId, id, key, sha256, at };
    if ((newest.get(workspaceId)?.at ?? '') <= at) newest.set(workspaceId, state);
  }
  const versions = await Promise.all([...newest.values()].map(({ id }) => getStateVersion(id)));
  return [...newest.values()].filter((_, n) => versions[n]?.status !== 'finalized');
};

/**
 * Owner of the new state version: the holder of the workspace's lock, otherwise the organization's creator, for whom
 * this locks the workspace.
 */
const holderOf = async (workspace: Workspace): Promise<{ holder: object; lockedAt?: string } | undefined> => {
  const { lock } = workspace;
  if (lock) return { holder: lock.kind === 'run' ? { runId: lock.runId } : { userId: lock.userId } };
  const userId = (await getOrganization(workspace.organization))?.createdBy;
  if (!userId) return undefined;
  const at = new Date().toISOString();
  const reason = 'The platform was restored to an earlier time; the latest state is being recovered.';
  const locked = await updateRecord<Workspace>(keys.workspace(workspace.id), {
    set: { lock: { kind: 'user', userId, reason, at } },
    condition: 'attribute_not_exists(#lock)',
    names: { '#lock': 'lock' },
  });
  return locked && { holder: { userId }, lockedAt: at };
};

const unlock = async (workspaceId: string, at: string): Promise<void> => {
  await update(keys.workspace(workspaceId), {
    remove: ['lock'],
    condition: '#lock.at = :at',
    names: { '#lock': 'lock' },
    values: { ':at': at },
  });
  await startNext(workspaceId);
};

/** @returns the new serial, or why the state was not imported; undefined if there is nothing to do */
const bringIn = async ({ workspaceId, key, sha256, at }: NewerState): Promise<number | string | undefined> => {
  const workspace = await getWorkspace(workspaceId);
  if (!workspace || workspace.deletedAt) return 'The workspace does not exist in the restored data.';
  // Another state was stored meanwhile.
  if (workspace.state && !isSince(at, workspace.state.at)) return undefined;
  const bytes = await getObjectUpTo(key, maxStateBytes);
  if (!Buffer.isBuffer(bytes) || sha256Of(bytes) !== sha256) return 'The stored state does not match its checksum.';
  const holding = await holderOf(workspace);
  if (!holding) return 'The workspace could not be locked. Invoke this again.';
  try {
    const { serial, lineage } = parseState(bytes);
    const fresh = (await getWorkspace(workspaceId)) ?? workspace;
    const version = {
      serial,
      lineage,
      md5: md5Of(bytes),
      sha256,
      size: bytes.length,
      force: true,
      intermediate: false,
    };
    const created = await createStateVersion({ workspace: fresh, ...holding.holder, ...version });
    if ('conflict' in created) return created.conflict;
    const { refusal } = created.stored
      ? created.stateVersion
      : await storeContent(created.stateVersion, bytes as Buffer<ArrayBuffer>);
    return refusal ?? serial;
  } catch (error) {
    if (error instanceof InvalidStateError) return error.message;
    throw error;
  } finally {
    if (holding.lockedAt) await unlock(workspaceId, holding.lockedAt);
  }
};

/** Makes each workspace's latest state current again. Lists all states, and reads the content of the latest ones. */
export const bringInNewerStates = async (restoredTo: string): Promise<NewerStates> => {
  const states: NewerStates = { statesBroughtIn: [], statesLeft: [] };
  for (const state of await findNewest(restoredTo)) {
    const { workspaceId, key } = state;
    const result = await bringIn(state);
    if (typeof result === 'number') states.statesBroughtIn.push({ workspaceId, serial: result });
    if (typeof result === 'string') states.statesLeft.push({ workspaceId, key, why: result });
  }
  return states;
};
