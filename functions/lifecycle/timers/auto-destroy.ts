import { noPermissions } from '#api/permissions/granted.ts';
import { queueRun } from '#lifecycle/creation/create-run.ts';
import { notifyAutoDestroy } from '#lifecycle/phases/notifications.ts';
import { derivedId } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { updateRecord } from '#platform/store/records.ts';
import { type Change, get, remove, update } from '#platform/store/table.ts';
import { inSeconds, now } from '#platform/store/time.ts';
import { latestConfigurationVersion } from '#resources/configurations/latest.ts';
import { getRun } from '#resources/runs/records.ts';
import { refusalIn } from '#resources/workspaces/admitted-runs.ts';
import type { AutoDestroyTimer } from '#resources/workspaces/auto-destroy.ts';
import { DrainingError } from '#resources/workspaces/drain.ts';
import { getWorkspace, type Workspace } from '#resources/workspaces/records.ts';
import { finalFailures, nextStep, timeAfterFailure } from '#run/auto-destroy.ts';
import { autoDestroy, type Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';

/**
 * Destroys workspaces at their scheduled time (HCP Terraform: ephemeral workspaces). The sweep calls this when the
 * timer of a workspace is due. Idempotent; it decides by the workspace's current settings.
 */

interface Look {
  workspace: Workspace;
  timer: AutoDestroyTimer;
}

/** Seconds until the next check while the destroy run is in progress. */
const runningSeconds = 60;

/** Seconds until the next attempt while the platform is drained. */
const drainSeconds = 600;

/** Condition: no concurrent change of the settings has set another timer. */
const unchanged = ({ lookedAt }: AutoDestroyTimer) => ({
  condition: 'lookedAt = :seen',
  values: { ':seen': lookedAt },
});

const again = (timer: AutoDestroyTimer, dueAt: string, change: Change = {}) =>
  update(
    { pk: timer.pk, sk: timer.sk },
    {
      set: { ...change.set, lookedAt: now(), dueAt },
      remove: change.remove,
      ...unchanged(timer),
    },
  );

const stop = (timer: AutoDestroyTimer) => remove({ pk: timer.pk, sk: timer.sk }, unchanged(timer));

export const lookAtAutoDestroy = async (key: Key): Promise<void> => {
  const [workspace, timer] = await Promise.all([getWorkspace(key.pk.replace('WS#', '')), get<AutoDestroyTimer>(key)]);
  if (!timer) return;
  if (!workspace) return void (await stop(timer));
  if (timer.runId) return follow({ workspace, timer }, timer.runId);
  const step = nextStep(workspace, { state: workspace.state, progress: timer, now: now() });
  if (step.do === 'nothing') return void (await stop(timer));
  if (step.do === 'destroy') return destroy({ workspace, timer });
  if (step.reminds) await notifyAutoDestroy(workspace, { kind: 'reminder', at: step.reminds });
  await again(timer, step.until);
};

/** Reason for users why no run can be created. */
const obstacleOf = (workspace: Workspace): string | undefined => {
  if (workspace.executionMode === 'local') return 'Execution mode is local';
  if (!workspace.allowDestroyPlan) return 'Destroy plans are not allowed for this workspace';
  return refusalIn(workspace);
};

const messageOf = ({ autoDestroyAt, autoDestroyActivityDuration }: Workspace): string =>
  autoDestroyAt
    ? `Automatically destroyed: scheduled for ${autoDestroyAt}`
    : `Automatically destroyed: no change for ${autoDestroyActivityDuration}`;

const destroy = async ({ workspace, timer }: Look): Promise<void> => {
  const version = await latestConfigurationVersion(workspace.id);
  const obstacle = obstacleOf(workspace) ?? (version ? undefined : 'Configuration version is missing');
  if (obstacle || !version) return failed({ workspace, timer }, { obstacle });
  const run = await queueRun({
    workspace,
    version,
    message: messageOf(workspace),
    isDestroy: true,
    autoApply: true,
    createdBy: autoDestroy,
    granted: noPermissions,
    source: 'tfe-infrastructure-lifecycle',
    id: derivedId('run', `${workspace.id} auto-destroy ${timer.lookedAt}`),
  }).catch((error) => {
    if (!(error instanceof DrainingError)) throw error;
  });
  if (!run) return void (await again(timer, inSeconds(drainSeconds)));
  const basis = workspace.state?.id;
  const isOnState = timer.failures !== undefined && timer.basis === basis;
  await setStatus(workspace, 'queued');
  await again(timer, inSeconds(runningSeconds), {
    set: { runId: run.id, basis },
    remove: isOnState ? [] : ['failures'],
  });
};

/** Whether a user or a failed check ended the run, which is then not retried. */
const isRefused = ({ status, failure }: Run): boolean =>
  status === 'discarded' || status === 'canceled' || failure !== undefined;

const follow = async (look: Look, runId: string): Promise<void> => {
  const run = await getRun(runId);
  if (run && !isFinal(run.status)) return void (await again(look.timer, inSeconds(runningSeconds)));
  if (run?.status === 'applied' || run?.status === 'planned_and_finished') return destroyed(look, run);
  return failed(look, { run });
};

/** Restarts an activity duration, and removes a fixed time. */
const destroyed = async ({ workspace, timer }: Look, run: Run): Promise<void> => {
  await notifyAutoDestroy(workspace, { kind: 'results', at: timer.lookedAt, run });
  const { autoDestroyAt: at } = workspace;
  await update(keys.workspace(workspace.id), {
    set: { autoDestroyStatus: null, ...(at ? { autoDestroyAt: null, updatedAt: now() } : {}) },
    condition: `attribute_not_exists(deletedAt)${at ? ' AND autoDestroyAt = :at' : ' AND attribute_exists(pk)'}`,
    values: at ? { ':at': at } : {},
  });
  const next = timeAfterFailure(workspace, finalFailures, now());
  if (at || !next) await stop(timer);
  else await again(timer, next, { remove: ['runId', 'failures', 'basis'] });
};

const failed = async (
  { workspace, timer }: Look,
  { run, obstacle }: { run?: Run; obstacle?: string },
): Promise<void> => {
  const failures = run && isRefused(run) ? finalFailures : (timer.failures ?? 0) + 1;
  const basis = run?.apply.report?.stateVersionId ?? (run ? timer.basis : workspace.state?.id);
  await notifyAutoDestroy(workspace, { kind: 'results', at: timer.lookedAt, run, obstacle });
  await setStatus(workspace, 'errored');
  const next = timeAfterFailure(workspace, failures, now());
  if (next) await again(timer, next, { set: { failures, basis }, remove: ['runId'] });
  else await stop(timer);
};

const setStatus = (workspace: Workspace, autoDestroyStatus: Workspace['autoDestroyStatus']) =>
  updateRecord(keys.workspace(workspace.id), {
    set: { autoDestroyStatus },
  });
