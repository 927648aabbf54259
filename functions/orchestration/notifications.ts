import { randomUUID } from 'node:crypto';
import { environment } from '../environment.ts';
import { type NotificationEvent, notificationOf } from '../run/notifications.ts';
import type { Run } from '../run/run.ts';
import { AwsCallError, dnsSuffix, send } from '../store/aws.ts';
import { logError } from '../store/log.ts';

/**
 * Invokes a function asynchronously; Lambda retries it when it fails (Lambda: asynchronous invocation).
 * @throws {AwsCallError} Lambda's error
 * @throws connection errors
 */
const invokeLater = async (functionName: string, event: object): Promise<void> => {
  const { region } = environment;
  const base = environment.endpoint('LAMBDA') ?? `https://lambda.${region}.${dnsSuffix(region)}`;
  const { status, body } = await send('lambda', `${base}/2015-03-31/functions/${functionName}/invocations`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-amz-invocation-type': 'Event' },
    body: JSON.stringify(event),
  });
  if (status !== 202) throw new AwsCallError(`Http${status}`, `lambda Invoke: ${body.toString('utf8').slice(0, 500)}`);
};

/**
 * Has the function Notify send the notifications of the run's new status. Costs nothing when nobody configured one. A
 * failure is logged and does not delay the run.
 */
export const notify = async (run: Run): Promise<void> => {
  const notice = run.notifies && notificationOf(run);
  if (!notice) return;
  const event: NotificationEvent = { id: randomUUID(), runId: run.id, ...notice };
  try {
    await invokeLater(environment.notifyFunction, event);
  } catch (error) {
    logError('notification failed', error, { run: run.id, ...notice });
  }
};
