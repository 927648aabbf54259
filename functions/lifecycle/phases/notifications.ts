import { randomUUID } from 'node:crypto';
import { environment } from '#platform/environment.ts';
import { invokeLater } from '#platform/store/aws.ts';
import { logError } from '#platform/store/log.ts';
import { pushLog } from '#resources/runs/log-followers.ts';
import { isNotified } from '#resources/workspaces/project-notifies.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import type { AutoDestroyEvent, AutoDestroyNotice } from '#run/notifications/auto-destroy.ts';
import { notificationOf, type RunEvent } from '#run/notifications/run.ts';
import type { Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';

/**
 * Notifies users and version control of the run's new status. Costs nothing when neither is configured. A failure is
 * logged and does not delay the run.
 */
export const notify = async (run: Run): Promise<void> => {
  await Promise.all([run.commit ? postStatus(run) : undefined, sendNotifications(run)]);
  if (!isFinal(run.status)) return pushLog(run);
  await Promise.all([
    run.environment ? settleEnvironment(run) : undefined,
    environment.otlpEndpoint ? trace(run) : undefined,
  ]);
};

/** Has the function Trace send the run's trace, if the operator has a receiver for traces. */
const trace = async ({ id }: Run): Promise<void> => {
  try {
    await invokeLater(environment.traceFunction, { runId: id });
  } catch (error) {
    logError('trace failed', error, { runId: id });
  }
};

const postStatus = async (run: Run): Promise<void> => {
  try {
    await invokeLater(environment.commitStatusFunction, { runId: run.id });
  } catch (error) {
    logError('commit status failed', error, { runId: run.id });
  }
};

/** Has the function Notify send the notifications for the run's new status. */
const sendNotifications = async (run: Run): Promise<void> => {
  const notice = run.notifies && notificationOf(run);
  if (!notice) return;
  const event: RunEvent = { kind: 'run', id: randomUUID(), runId: run.id, ...notice };
  try {
    await invokeLater(environment.notifyFunction, event);
  } catch (error) {
    logError('notification failed', error, { runId: run.id, ...notice });
  }
};

/** Notifications of a workspace that is destroyed by its schedule. */
export const notifyAutoDestroy = async (
  workspace: Workspace,
  { run, ...notice }: Omit<AutoDestroyNotice, 'run'> & { run?: Run },
): Promise<void> => {
  if (!isNotified(workspace)) return;
  const workspaceId = workspace.id;
  const runInNotice = run && { id: run.id, status: run.status, createdAt: run.createdAt };
  const event: AutoDestroyEvent = {
    kind: 'autoDestroy',
    id: randomUUID(),
    workspaceId,
    notice: { ...notice, run: runInNotice },
  };
  try {
    await invokeLater(environment.notifyFunction, event);
  } catch (error) {
    logError('notification failed', error, { workspace: workspaceId, kind: notice.kind });
  }
};

/**
 * Records the outcome of the run's environment build, template import or dry run; readers
 * and the sweep do the same.
 */
const settleEnvironment = async (run: Run): Promise<void> => {
  try {
    await invokeLater(environment.environmentSettleFunction, { runId: run.id });
  } catch (error) {
    logError('recording the result of a build failed', error, { runId: run.id });
  }
};
