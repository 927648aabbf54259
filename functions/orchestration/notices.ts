import { randomUUID } from 'node:crypto';
import { environment } from '../environment.ts';
import { type NoticeEvent, noticeOf } from '../run/notifications.ts';
import type { Run } from '../run/run.ts';
import { invokeLater } from '../store/aws.ts';

/**
 * Has people told that a run came to its status; of one that nobody wants to hear of, it costs nothing. Whatever goes wrong
 * is not the run's fault, and does not hold it up.
 */
export const announce = async (run: Run): Promise<void> => {
  const notice = run.notifies && noticeOf(run);
  if (!notice) return;
  const event: NoticeEvent = { id: randomUUID(), runId: run.id, ...notice };
  try {
    await invokeLater(environment.notifyFunction, event);
  } catch (error) {
    console.error(JSON.stringify({ message: 'nobody is told', run: run.id, ...notice, error: String(error) }));
  }
};
