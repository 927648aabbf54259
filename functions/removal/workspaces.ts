import { leavePool } from '../agent-pools/uses.ts';
import { deleteNotificationsOf } from '../notifications/records.ts';
import { forgetGrants } from '../people/teams/grants.ts';
import { leavePolicySets } from '../policies/set-records.ts';
import { deleteWorkspaceTasksOf } from '../run-tasks/workspace-tasks.ts';
import { listOpenRuns } from '../runs/lists.ts';
import { deleteRunTriggersOf } from '../runs/triggers.ts';
import { leaveSshKey } from '../ssh-keys/records.ts';
import { dueIn } from '../store/due.ts';
import { type Key, keys } from '../store/keys.ts';
import { countNames } from '../store/name-index.ts';
import { get, queryAll, remove, update } from '../store/table.ts';
import { now } from '../store/time.ts';
import { leaveVariableSets } from '../variables/set-records.ts';
import { unfollow } from '../version-control/repositories.ts';
import { leaveProject, releaseName } from '../workspaces/names.ts';
import { firstQueued, type Workspace } from '../workspaces/records.ts';

/**
 * The end of a workspace. One conditional write marks it: from then on it is gone for everybody. Its item stays while
 * runs go on, which the sweep stops (orchestration/deleted-workspaces.ts) and which need it to leave the queue.
 */

/** `isDetached`: nothing else refers to it any more. */
export type EndedWorkspace = Workspace & { isDetached?: true };

export const getEndedWorkspace = async (id: string): Promise<EndedWorkspace | undefined> => {
  const workspace = await get<EndedWorkspace>(keys.workspace(id));
  return workspace?.deletedAt ? workspace : undefined;
};

/**
 * Deletes the workspace with its variables; history and content of its runs and states stay where they are, out of
 * reach of the API. False when it has unfinished runs in its queue, unless by `force`: then they are stopped.
 */
export const deleteWorkspace = async (
  { id, runCount }: Workspace,
  { by, force = false }: { by: string; force?: boolean },
): Promise<boolean> => {
  const isBusy = (await firstQueued(id)) !== undefined;
  if (isBusy && !force) return false;
  const marked = await update<EndedWorkspace>(keys.workspace(id), {
    set: { deletedAt: now(), deletedBy: by, ...dueIn(id, isBusy ? 0 : 60) },
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

/** Takes away what is left of a workspace that was deleted. False while it has unfinished runs. May be repeated. */
export const completeDeletion = async (workspace: EndedWorkspace): Promise<boolean> => {
  const { id } = workspace;
  if (!workspace.isDetached) {
    await detach(workspace);
    await update(keys.workspace(id), { set: { isDetached: true }, condition: 'attribute_exists(pk)' });
  }
  if ((await openRunsOf(workspace)).length > 0) return false;
  const { pk } = keys.workspace(id);
  const rest = await Promise.all(
    ['VAR', 'CONSUMER#', 'AUTODESTROY', 'CHANGEREQUEST#', 'HEALTH', 'RETENTION', 'ASSESSMENT#', 'TOLD#'].map((prefix) =>
      queryAll<Key>({ pk, prefix }),
    ),
  );
  await Promise.all(rest.flat().map(({ sk }) => remove({ pk, sk })));
  await remove(keys.workspace(id));
  return true;
};

const detach = async (workspace: Workspace) => {
  const { id, organization, name, projectId, teamAccess, notifications, agentPoolId, vcsRepo } = workspace;
  if (vcsRepo) await unfollow(vcsRepo, id);
  await releaseName(organization, name, id);
  await countNames(organization, 'workspace', -1);
  await leaveProject(projectId, name, id);
  await leaveVariableSets('workspaceIds', id);
  await leavePolicySets({ workspace: id });
  await forgetGrants(teamAccess);
  await deleteRunTriggersOf(id);
  await deleteWorkspaceTasksOf(id);
  await deleteNotificationsOf(notifications ?? []);
  if (agentPoolId) await leavePool(agentPoolId, id);
  await leaveSshKey(workspace);
};
