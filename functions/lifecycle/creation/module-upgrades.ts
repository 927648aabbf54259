import { keys } from '#platform/store/keys.ts';
import { update } from '#platform/store/table.ts';
import { adoptConfigurationVersion } from '#resources/configurations/records.ts';
import type { Run } from '#run/run.ts';

/**
 * Completes a module upgrade: if the run was applied or had no changes, its configuration and
 * version become the workspace's. Ignores other runs. May be repeated.
 */
export const completeUpgrade = async ({ moduleUpgrade, status, ...run }: Run): Promise<void> => {
  if (!moduleUpgrade || (status !== 'applied' && status !== 'planned_and_finished')) return;
  await adoptConfigurationVersion(run.configurationVersionId);
  await update(keys.workspace(run.workspaceId), {
    set: { 'sourceModule.version': moduleUpgrade.version },
    condition: 'attribute_exists(sourceModule) AND attribute_not_exists(deletedAt)',
  });
};
