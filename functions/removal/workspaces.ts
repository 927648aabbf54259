import { dueIn } from '#platform/store/due.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { countNames } from '#platform/store/name-index.ts';
import { get, put, queryAll, remove, update } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { leavePool } from '#resources/agents/pools/uses.ts';
import { deleteNotificationsOf } from '#resources/notifications/records.ts';
import { leavePolicySets } from '#resources/policies/set-records.ts';
import { leaveProviderSets } from '#resources/provider-sets/records.ts';
import { deleteWorkspaceTasksOf } from '#resources/run-tasks/workspace-tasks.ts';
import { listOpenRuns } from '#resources/runs/lists.ts';
import { deleteRunTriggersOf } from '#resources/runs/triggers.ts';
import { leaveSshKey } from '#resources/ssh-keys/records.ts';
import { forgetGrants } from '#resources/teams/grants.ts';
import { leaveVariableSets } from '#resources/variables/set-records.ts';
import { leaveProject, releaseName } from '#resources/workspaces/names.ts';
import { firstQueued } from '#resources/workspaces/queue-entries.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import { unfollow } from '#version-control/repositories.ts';
import { noteAttachments, type WithAttachments } from './attachments.ts';

/**
 * Deletion of a workspace. One conditional write marks it as deleted for all readers. Its item stays until its runs
 * have ended, because they need it to leave the queue; the sweep stops them (lifecycle/repair/deleted-workspaces.ts). A
 * recoverable workspace keeps its own data for a week (recoverable-items/) and is detached at once from variable sets,
 * policy sets and run tasks.
 */

export type EndedWorkspace = Workspace &
  WithAttachments & {
    deletedAt: string;
    /** No other record refers to it any more. */
    isDetached?: true;
    /** End of the recovery period; absent: it cannot be recovered. */
    recoverableUntil?: string;
    /** It can no longer be recovered: its data is being deleted (removal/retention/purge-workspace.ts). */
    isEnding?: true;
  };

/** Length of the recovery period. */
const recoverableDays = 7;

export const getEndedWorkspace = async (id: string): Promise<EndedWorkspace | undefined> => {
  const workspace = await get<EndedWorkspace>(keys.workspace(id));
  return workspace?.deletedAt ? workspace : undefined;
};

interface Deletion {
  by: string;
  /** Stops unfinished runs. */
  force?: boolean;
  /** Keeps the workspace recoverable for a week. */
  recoverable?: boolean;
}

/**
 * Deletes the workspace with its variables. If it is not recoverable, the history and content of its runs and states
 * remain stored, but the API no longer reaches them. False when it has unfinished runs in its queue; with `force`
 * they are stopped instead.
 */
export const deleteWorkspace = async (
  { id, runCount }: Workspace,
  { by, force = false, recoverable = false }: Deletion,
): Promise<boolean> => {
  const isBusy = (await firstQueued(id)) !== undefined;
  if (isBusy && !force) return false;
  const until = new Date(Date.now() + recoverableDays * 24 * 3600 * 1000).toISOString();
  const marked = await update<EndedWorkspace>(keys.workspace(id), {
    set: {
      deletedAt: now(),
      deletedBy: by,
      ...(recoverable ? { recoverableUntil: until } : {}),
      ...dueIn(id, isBusy ? 0 : 60),
    },
    remove: ['changedIn'],
    // A run created after the queue was read has raised the count.
    condition: `attribute_not_exists(deletedAt) AND ${force ? 'attribute_exists(pk)' : 'runCount = :seen'}`,
    ...(force ? {} : { values: { ':seen': runCount } }),
  });
  // Another request deleted it and completes the deletion.
  if (!marked) return force;
  await completeDeletion(marked);
  return true;
};

/** Its unfinished runs, newest first. */
export const openRunsOf = async ({ id, organization }: Workspace) =>
  (await listOpenRuns(organization)).filter(({ workspaceId }) => workspaceId === id);

/**
 * Removes the rest of a deleted workspace, or the attachments of a recoverable one. False while it has unfinished
 * runs. Can be repeated.
 */
export const completeDeletion = async (workspace: EndedWorkspace): Promise<boolean> => {
  const { id, recoverableUntil } = workspace;
  const hasLeft = workspace.isDetached ? {} : { isDetached: true };
  if (!workspace.isDetached) await detach(workspace);
  const isOver = (await openRunsOf(workspace)).length === 0;
  const waits = isOver && recoverableUntil !== undefined && !workspace.isEnding;
  const set = { ...hasLeft, ...(waits ? dueIn(id, secondsTo(recoverableUntil)) : {}) };
  // A recovery or permanent deletion meanwhile has changed the time.
  const condition = 'attribute_exists(deletedAt) AND attribute_not_exists(isEnding)';
  if (Object.keys(set).length) {
    await update(keys.workspace(id), { set, condition: waits ? condition : 'attribute_exists(deletedAt)' });
  }
  // A recoverable workspace is removed after its content (retention/purge-workspace.ts).
  if (isOver && recoverableUntil === undefined) await removeEnded(workspace);
  return isOver;
};

/**
 * Ends the recovery period; the sweep deletes the rest. False when the workspace was recovered or is deleted. 1
 * write.
 */
export const endRecovery = async (id: string): Promise<boolean> => {
  const ending = await update(keys.workspace(id), {
    set: { isEnding: true, ...dueIn(id, 0) },
    condition: 'attribute_exists(deletedAt) AND attribute_exists(recoverableUntil)',
  });
  return ending !== undefined;
};

const secondsTo = (at: string): number => Math.max(0, (Date.parse(at) - Date.now()) / 1000);

/** Removes everything that belongs to the workspace, then its item. Can be repeated. */
export const removeEnded = async (workspace: EndedWorkspace): Promise<void> => {
  const { id, organization, teamAccess, notifications } = workspace;
  await leaveApplied(id);
  await leaveProviderSets(organization, 'workspaceIds', id);
  await forgetGrants(teamAccess);
  await deleteNotificationsOf(notifications ?? []);
  const { pk } = keys.workspace(id);
  const requests = await queryAll<{ id: string }>({ pk, prefix: 'CHANGEREQUEST#' });
  await Promise.all(requests.map((request) => remove(keys.changeRequest(request.id))));
  const rest = await Promise.all(
    ['VAR', 'CONSUMER#', 'CHANGEREQUEST#', 'ASSESSMENT#', 'TOLD#'].map((prefix) => queryAll<Key>({ pk, prefix })),
  );
  await Promise.all(rest.flat().map(({ sk }) => remove({ pk, sk })));
  await remove(keys.recoverable(organization, id));
  await remove(keys.workspace(id));
};

/** Called again at the removal, because an interrupted recovery may have attached the workspace again. */
const leaveApplied = async (id: string) => {
  await leaveVariableSets('workspaceIds', id);
  await leavePolicySets({ workspace: id });
  await deleteWorkspaceTasksOf(id);
};

const timers = ['AUTODESTROY', 'HEALTH', 'RETENTION'];

const detach = async (workspace: EndedWorkspace) => {
  const { id, organization, name, projectId, agentPoolId, vcsRepo, recoverableUntil } = workspace;
  if (recoverableUntil) {
    await put({ ...keys.recoverable(organization, id), workspaceId: id });
    await noteAttachments(workspace);
  }
  if (vcsRepo) await unfollow(vcsRepo, id);
  await releaseName(organization, name, id);
  await countNames(organization, 'workspace', -1);
  await leaveProject(projectId, name, id);
  await leaveApplied(id);
  await deleteRunTriggersOf(id);
  if (agentPoolId) await leavePool(agentPoolId, id);
  await leaveSshKey(workspace);
  for (const sk of timers) await remove({ pk: keys.workspace(id).pk, sk });
};
