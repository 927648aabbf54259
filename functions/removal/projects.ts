import { leavePool } from '../agent-pools/uses.ts';
import { deleteNotificationsOf } from '../notifications/records.ts';
import { forgetGrants } from '../people/teams/grants.ts';
import { leavePolicySets } from '../policies/set-records.ts';
import type { Project } from '../projects/records.ts';
import { keys } from '../store/keys.ts';
import { countNames } from '../store/name-index.ts';
import { remove } from '../store/table.ts';
import { deleteVariableSet, leaveVariableSets, listOwnVariableSets } from '../variables/set-records.ts';

/** With the variable sets it owns. */
export const deleteProject = async (project: Project): Promise<void> => {
  await leaveVariableSets('projectIds', project.id);
  for (const set of await listOwnVariableSets(project.id)) await deleteVariableSet(set);
  await leavePolicySets({ project: project.id });
  await forgetGrants(project.teamAccess);
  await deleteNotificationsOf(project.notifications ?? []);
  if (project.defaultAgentPoolId) await leavePool(project.defaultAgentPoolId, project.id);
  await remove(keys.projectName(project.organization, project.name));
  await countNames(project.organization, 'project', -1);
  await remove(keys.project(project.id));
};
