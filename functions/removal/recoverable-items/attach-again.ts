import type { Attached } from '#removal/attachments.ts';
import { getPolicySets, relate } from '#resources/policies/set-records.ts';
import { getTask } from '#resources/run-tasks/records.ts';
import { createWorkspaceTask } from '#resources/run-tasks/workspace-tasks.ts';
import { applyVariableSet, getVariableSets } from '#resources/variables/set-records.ts';

/** Skips sets and tasks deleted after the workspace, and sets that became global. Can be repeated. */
export const attachAgain = async ({ id, organization, attachments }: Attached): Promise<void> => {
  if (!attachments) return;
  const { variableSets, policySets, excludedFrom, tasks } = attachments;
  for (const { taskId, ...settings } of tasks) {
    if ((await getTask(taskId))?.organization === organization) await createWorkspaceTask(id, taskId, settings);
  }
  for (const set of await getVariableSets(variableSets)) {
    if (set.organization === organization && !set.global) await applyVariableSet(set, 'workspaceIds', [id]);
  }
  for (const set of await getPolicySets([...policySets, ...excludedFrom])) {
    if (set.organization !== organization) continue;
    if (policySets.includes(set.id) && !set.global) await relate(set, 'workspaceIds', [id]);
    if (excludedFrom.includes(set.id)) await relate(set, 'workspaceExclusionIds', [id]);
  }
};
