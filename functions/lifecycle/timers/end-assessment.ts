import { randomUUID } from 'node:crypto';
import { environment } from '#platform/environment.ts';
import { invokeLater } from '#platform/store/aws.ts';
import { keys } from '#platform/store/keys.ts';
import { logError } from '#platform/store/log.ts';
import { put, remove, update } from '#platform/store/table.ts';
import { expiryIn } from '#platform/store/time.ts';
import { isNotified } from '#resources/workspaces/project-notifies.ts';
import { getWorkspace, type Workspace } from '#resources/workspaces/records.ts';
import { healthOf } from '#run/health.ts';
import { type HealthEvent, healthTriggersOf } from '#run/notifications/health.ts';
import type { Run } from '#run/run.ts';

const tell = async (workspace: Workspace, result: HealthEvent['result']): Promise<void> => {
  if (!isNotified(workspace) || healthTriggersOf(result).length === 0) return;
  const event: HealthEvent = {
    kind: 'health',
    id: randomUUID(),
    workspaceId: workspace.id,
    result,
    prior: workspace.health,
  };
  try {
    await invokeLater(environment.notifyFunction, event);
  } catch (error) {
    logError('notification failed', error, { workspace: workspace.id });
  }
};

const historySeconds = 90 * 24 * 3600;

/** Stores the result of a finished assessment and sends its notifications, once. May be repeated. */
export const endAssessment = async (run: Run): Promise<void> => {
  await remove(keys.assessing(run.organization, run.id));
  const workspace = await getWorkspace(run.workspaceId);
  if (!workspace || workspace.assessing?.runId !== run.id) return;
  const isOutdated = (workspace.state?.id ?? '') !== run.assessment?.stateId;
  if (isOutdated) await update(keys.run(run.id), { set: { 'assessment.outdated': true } });
  const health = isOutdated ? undefined : healthOf(run);
  if (health) {
    const expiresAt = expiryIn(historySeconds, Date.parse(health.at));
    await put({ ...keys.assessment(workspace.id, health.at, run.id), ...health, expiresAt });
    await tell(workspace, health);
  }
  await update(keys.workspace(workspace.id), {
    set: health ? { health } : {},
    remove: ['assessing'],
    condition: 'assessing.runId = :run',
    values: { ':run': run.id },
  });
};
