import { randomUUID } from 'node:crypto';
import { environment } from '../environment.ts';
import type { AutoDestroyNotice, WorkspaceEvent } from '../run/auto-destroy-notice.ts';
import { type NotificationEvent, notificationOf } from '../run/notifications.ts';
import type { Run } from '../run/run.ts';
import { isFinal } from '../run/status.ts';
import { invokeLater } from '../store/aws.ts';
import { logError } from '../store/log.ts';
import { isNotified } from '../workspaces/project-notifies.ts';
import type { Workspace } from '../workspaces/records.ts';

/**
 * Has people and version control told that a run came to its status. Costs nothing when nobody configured either. A failure
 * is logged and does not delay the run.
 */
export const notify = async (run: Run): Promise<void> => {
  await Promise.all([run.commit ? postStatus(run) : undefined, tellPeople(run)]);
  if (run.environment && isFinal(run.status)) await settleEnvironment(run);
};

const postStatus = async (run: Run): Promise<void> => {
  try {
    await invokeLater(environment.commitStatusFunction, { runId: run.id });
  } catch (error) {
    logError('commit status failed', error, { run: run.id });
  }
};

/** Has the function Notify send the notifications of the run's new status. */
const tellPeople = async (run: Run): Promise<void> => {
  const notice = run.notifies && notificationOf(run);
  if (!notice) return;
  const event: NotificationEvent = { id: randomUUID(), runId: run.id, ...notice };
  try {
    await invokeLater(environment.notifyFunction, event);
  } catch (error) {
    logError('notification failed', error, { run: run.id, ...notice });
  }
};

/** What people are told of a workspace that is destroyed by itself. */
export const notifyAutoDestroy = async (
  workspace: Workspace,
  { run, ...notice }: Omit<AutoDestroyNotice, 'run'> & { run?: Run },
): Promise<void> => {
  if (!isNotified(workspace)) return;
  const workspaceId = workspace.id;
  const told = run && { id: run.id, status: run.status, createdAt: run.createdAt };
  const event: WorkspaceEvent = { id: randomUUID(), workspaceId, notice: { ...notice, run: told } };
  try {
    await invokeLater(environment.notifyFunction, event);
  } catch (error) {
    logError('notification failed', error, { workspace: workspaceId, kind: notice.kind });
  }
};

/** Has recorded what became of what the run was for; whoever looks at that, and the sweep, do so as well. */
const settleEnvironment = async (run: Run): Promise<void> => {
  try {
    await invokeLater(environment.environmentSettleFunction, { runId: run.id });
  } catch (error) {
    logError('environment not settled', error, { run: run.id });
  }
};
