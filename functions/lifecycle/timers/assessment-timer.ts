import { type Key, keys } from '#platform/store/keys.ts';
import { get, remove, update, updateExisting } from '#platform/store/table.ts';
import { inSeconds, now } from '#platform/store/time.ts';
import { getOrganization } from '#resources/organizations/records.ts';
import type { HealthTimer } from '#resources/workspaces/health-timer.ts';
import { getWorkspace, type Workspace } from '#resources/workspaces/records.ts';
import { assessmentHours, nextAssessment } from '#run/health.ts';
import { assess, isCrowded } from './assessments.ts';

/** Scheduled assessments. The sweep calls this when the timer of a workspace is due. Idempotent. */

const minutes = 60;
const hours = 3600;

/** An assessment may start this much early, so that the late end of one does not postpone all later ones. */
const toleranceMs = 1 * hours * 1000;

/** Condition: no concurrent change of the settings has set another timer. */
const unchanged = ({ lookedAt }: HealthTimer) => ({ condition: 'lookedAt = :seen', values: { ':seen': lookedAt } });

/** 1 read unless the workspace itself enables assessments. */
const isWanted = async ({ assessmentsEnabled, organization }: Workspace): Promise<boolean> =>
  assessmentsEnabled || ((await getOrganization(organization))?.assessmentsEnforced ?? false);

/** Starts an assessment if one is due. @returns the time of the next check */
const look = async (workspace: Workspace): Promise<string> => {
  const due = nextAssessment(workspace.health, workspace.state);
  if (due && Date.parse(due) - Date.now() > toleranceMs) return due;
  if (await isCrowded(workspace.organization)) return inSeconds(10 * minutes);
  const obstacle = await assess(workspace);
  if (!obstacle) return inSeconds(assessmentHours * hours);
  return inSeconds(obstacle.passes ? 1 * hours : assessmentHours * hours);
};

export const lookAtHealth = async (key: Key): Promise<void> => {
  const [workspace, timer] = await Promise.all([getWorkspace(key.pk.replace('WS#', '')), get<HealthTimer>(key)]);
  if (!timer) return;
  const timerKey = { pk: timer.pk, sk: timer.sk };
  if (!workspace || !(await isWanted(workspace))) return void (await remove(timerKey, unchanged(timer)));
  const dueAt = await look(workspace);
  await update(timerKey, { set: { lookedAt: now(), dueAt }, ...unchanged(timer) });
};

/** Restarts the schedule, because a user has started an assessment. */
export const restartTimer = async (workspaceId: string): Promise<void> => {
  await updateExisting(keys.healthTimer(workspaceId), {
    set: { lookedAt: now(), dueAt: inSeconds(assessmentHours * hours) },
  });
};
