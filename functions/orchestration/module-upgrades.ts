import { adoptConfigurationVersion } from '../configurations/records.ts';
import type { Run } from '../run/run.ts';
import { keys } from '../store/keys.ts';
import { update } from '../store/table.ts';

/**
 * A run that upgrades its workspace's module has ended: if it was applied, or had nothing to change, its configuration and its
 * version are the workspace's from now on. Nothing for other runs. May be repeated.
 */
export const completeUpgrade = async ({ moduleUpgrade, status, ...run }: Run): Promise<void> => {
  if (!moduleUpgrade || (status !== 'applied' && status !== 'planned_and_finished')) return;
  await adoptConfigurationVersion(run.configurationVersionId);
  await update(keys.workspace(run.workspaceId), {
    set: { 'sourceModule.version': moduleUpgrade.version },
    condition: 'attribute_exists(sourceModule) AND attribute_not_exists(deletedAt)',
  });
};
