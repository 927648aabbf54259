import { dueIn } from '#platform/store/due.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { countNames } from '#platform/store/name-index.ts';
import { get, put, queryAll, remove, update } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { leavePool } from '#resources/agents/pools/uses.ts';
import { deleteNotificationsOf } from '#resources/notifications/records.ts';
import { leavePolicySets } from '#resources/policies/set-records.ts';
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
 * The end of a workspace. One conditional write marks it: from then on it is gone for everybody. Its item stays while
 * runs go on, which the sweep stops (lifecycle/repair/deleted-workspaces.ts) and which need it to leave the queue. One that
 * can be recovered stays for a week with all that is its own (recoverable-items/); what is others' it leaves at once.
 */

export type EndedWorkspace = Workspace &
  WithAttachments & {
    deletedAt: string;
    /** Nothing else refers to it any more. */
    isDetached?: true;
    /** Until when it can be recovered; absent: it cannot. */
    recoverableUntil?: string;
    /** It cannot be recovered any more: what it has is being deleted (removal/retention/purge-workspace.ts). */
    isEnding?: true;
  };

/** How long a deleted workspace can be recovered. */
const recoverableDays = 7;

export const getEndedWorkspace = async (id: string): Promise<EndedWorkspace | undefined> => {
  const workspace = await get<EndedWorkspace>(keys.workspace(id));
  return workspace?.deletedAt ? workspace : undefined;
};

interface Deletion {
  by: string;
  /** Unfinished runs are stopped. */
  force?: boolean;
  /** For a week. */
  recoverable?: boolean;
}

/**
 * Deletes the workspace with its variables. Of one that cannot be recovered, history and content of its runs and states stay
 * where they are, out of reach of the API. False when it has unfinished runs in its queue, unless by `force`: then they are
 * stopped.
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
    // A run created since the look at the queue has raised the count.
    condition: `attribute_not_exists(deletedAt) AND ${force ? 'attribute_exists(pk)' : 'runCount = :seen'}`,
    ...(force ? {} : { values: { ':seen': runCount } }),
  });
  // Another request deleted it and does the rest.
  if (!marked) return force;
  await completeDeletion(marked);
  return true;
};

/** Its unfinished runs, newest first. */
export const openRunsOf = async ({ id, organization }: Workspace) =>
  (await listOpenRuns(organization)).filter(({ workspaceId }) => workspaceId === id);

/**
 * Takes away what is left of a workspace that was deleted, or of one that can be recovered what is not its own. False while
 * it has unfinished runs. May be repeated.
 */
export const completeDeletion = async (workspace: EndedWorkspace): Promise<boolean> => {
  const { id, recoverableUntil } = workspace;
  const hasLeft = workspace.isDetached ? {} : { isDetached: true };
  if (!workspace.isDetached) await detach(workspace);
  const isOver = (await openRunsOf(workspace)).length === 0;
  const waits = isOver && recoverableUntil !== undefined && !workspace.isEnding;
  const set = { ...hasLeft, ...(waits ? dueIn(id, secondsTo(recoverableUntil)) : {}) };
  // Whoever recovered it meanwhile, or ended it, has written another time.
  const condition = 'attribute_exists(deletedAt) AND attribute_not_exists(isEnding)';
  if (Object.keys(set).length) {
    await update(keys.workspace(id), { set, condition: waits ? condition : 'attribute_exists(deletedAt)' });
  }
  // What its states and runs hold goes first, piece by piece.
  if (isOver && recoverableUntil === undefined) await removeEnded(workspace);
  return isOver;
};

/** It cannot be recovered from now on; the sweep has the rest deleted. False when it was recovered, or is gone. 1 write. */
export const endRecovery = async (id: string): Promise<boolean> => {
  const ending = await update(keys.workspace(id), {
    set: { isEnding: true, ...dueIn(id, 0) },
    condition: 'attribute_exists(deletedAt) AND attribute_exists(recoverableUntil)',
  });
  return ending !== undefined;
};

const secondsTo = (at: string): number => Math.max(0, (Date.parse(at) - Date.now()) / 1000);

/** Everything that is its own, then itself. May be repeated. */
export const removeEnded = async (workspace: EndedWorkspace): Promise<void> => {
  const { id, organization, teamAccess, notifications } = workspace;
  await leaveApplied(id);
  await forgetGrants(teamAccess);
  await deleteNotificationsOf(notifications ?? []);
  const { pk } = keys.workspace(id);
  const requests = await queryAll<{ id: string }>({ pk, prefix: 'CHANGEREQUEST#' });
  await Promise.all(requests.map((request) => remove(keys.changeRequest(request.id))));
  const rest = await Promise.all(
    ['VAR', 'CONSUMER#', 'CHANGEREQUEST#', 'ASSESSMENT#', 'TOLD#'].map((prefix) => queryAll<Key>({ pk, prefix })),
  );
  await Promise.all(rest.flat().map(({ sk }) => remove({ pk, sk })));
  if (workspace.recoverableUntil) await remove(keys.recoverable(organization, id));
  await remove(keys.workspace(id));
};

/** A recovery that was cut off has given it some of them again. */
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
