import { leavePool } from '../agent-pools/uses.ts';
import { deleteNotificationsOf } from '../notifications/records.ts';
import { forgetGrants } from '../people/teams/grants.ts';
import { leavePolicySets } from '../policies/set-records.ts';
import { deleteWorkspaceTasksOf } from '../run-tasks/workspace-tasks.ts';
import { deleteRunTriggersOf } from '../runs/triggers.ts';
import { type Key, keys } from '../store/keys.ts';
import { countNames } from '../store/name-index.ts';
import { queryAll, remove, update } from '../store/table.ts';
import { now } from '../store/time.ts';
import { leaveVariableSets } from '../variables/set-records.ts';
import { leaveProject, releaseName } from '../workspaces/names.ts';
import { firstQueued, type Workspace } from '../workspaces/records.ts';

/**
 * Deletes the workspace with its variables; history and content of its runs and states stay where they are, out of
 * reach of the API. False when it has runs that are not over.
 */
export const deleteWorkspace = async (workspace: Workspace): Promise<boolean> => {
  if (await firstQueued(workspace.id)) return false;
  const marked = await update<Workspace>(keys.workspace(workspace.id), {
    set: { deletedAt: now() },
    // A run created since the look at the queue has raised the count.
    condition: 'runCount = :seen',
    values: { ':seen': workspace.runCount },
  });
  if (!marked) return false;
  await releaseName(workspace.organization, workspace.name, workspace.id);
  await countNames(workspace.organization, 'workspace', -1);
  await leaveProject(workspace.projectId, workspace.name, workspace.id);
  await leaveVariableSets('workspaceIds', workspace.id);
  await leavePolicySets({ workspace: workspace.id });
  await forgetGrants(marked.teamAccess);
  await deleteRunTriggersOf(workspace.id);
  await deleteWorkspaceTasksOf(workspace.id);
  await deleteNotificationsOf(marked.notifications ?? []);
  if (marked.agentPoolId) await leavePool(marked.agentPoolId, workspace.id);
  const { pk } = keys.workspace(workspace.id);
  const rest = await Promise.all(['VAR', 'CONSUMER#'].map((prefix) => queryAll<Key>({ pk, prefix })));
  await Promise.all(rest.flat().map(({ sk }) => remove({ pk, sk })));
  await remove(keys.workspace(workspace.id));
  return true;
};
