import { keys } from '#platform/store/keys.ts';
import { countNames } from '#platform/store/name-index.ts';
import { remove } from '#platform/store/table.ts';
import { leavePool } from '#resources/agents/pools/uses.ts';
import { deleteNotificationsOf } from '#resources/notifications/records.ts';
import { leavePolicySets } from '#resources/policies/set-records.ts';
import type { Project } from '#resources/projects/records.ts';
import { leaveProviderSets } from '#resources/provider-sets/records.ts';
import { forgetGrants } from '#resources/teams/grants.ts';
import { deleteVariableSet, leaveVariableSets, listOwnVariableSets } from '#resources/variables/set-records.ts';

/** Deletes the variable sets owned by the project too. */
export const deleteProject = async (project: Project): Promise<void> => {
  await leaveVariableSets('projectIds', project.id);
  for (const set of await listOwnVariableSets(project.id)) await deleteVariableSet(set);
  await leavePolicySets({ project: project.id });
  await leaveProviderSets(project.organization, 'projectIds', project.id);
  await forgetGrants(project.teamAccess);
  await deleteNotificationsOf(project.notifications ?? []);
  if (project.defaultAgentPoolId) await leavePool(project.defaultAgentPoolId, project.id);
  await remove(keys.projectName(project.organization, project.name));
  await countNames(project.organization, 'project', -1);
  await remove(keys.project(project.id));
};
