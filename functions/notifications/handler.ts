import { environment } from '../environment.ts';
import { deliverNotification } from '../outbound/notification.ts';
import { getUsers } from '../people/accounts/users.ts';
import { authorOf, type NotificationEvent, type NotificationFacts, notificationPayload } from '../run/notifications.ts';
import { nameOfCreator, type Run } from '../run/run.ts';
import { getRun } from '../runs/records.ts';
import { getWorkspace } from '../workspaces/records.ts';
import {
  claimDelivery,
  endDelivery,
  keepResponse,
  listNotifications,
  type NotificationConfiguration,
  openToken,
} from './records.ts';

/** A destination may take it another time: Lambda tries the event again (asynchronous invocation). */
export class DeliveryError extends Error {
  override name = 'NotTakenError';
}

type People = Pick<NotificationFacts, 'createdBy' | 'updatedBy'>;

const peopleOf = async (run: Run, { status }: NotificationEvent): Promise<People> => {
  const author = authorOf(run, status);
  const users = await getUsers([...new Set([run.createdBy, ...(author ? [author] : [])])]);
  const nameOf = (id: string) => users.find((user) => user.id === id)?.username ?? id;
  const creator = users.find((user) => user.id === run.createdBy)?.username ?? nameOfCreator(run);
  return { createdBy: creator, updatedBy: author ? nameOf(author) : null };
};

/** True when it is over, however it went. */
const sendNotification = async (
  configuration: NotificationConfiguration,
  { run, event, people }: { run: Run; event: NotificationEvent; people: People },
): Promise<boolean> => {
  const { id, url, destinationType } = configuration;
  const { publicUrl: baseUrl } = environment;
  if (!(await claimDelivery(run.id, id, event, event.id))) return true;
  const payload = notificationPayload(run, event, { ...people, configurationId: id, baseUrl });
  const token = await openToken(configuration);
  const { response, again } = await deliverNotification({ url, destinationType, token }, payload, baseUrl);
  await keepResponse(id, response);
  if (again) return false;
  await endDelivery(run.id, id, event);
  return true;
};

/** Notifies every matching configuration of the run's workspace, in parallel. */
export const handler = async (event: NotificationEvent): Promise<void> => {
  const run = await getRun(event.runId);
  const workspace = run && (await getWorkspace(run.workspaceId));
  if (!workspace) return;
  const wanting = (await listNotifications(workspace)).filter(
    ({ enabled, triggers }) => enabled && triggers.includes(event.trigger),
  );
  if (wanting.length === 0) return;
  const people = await peopleOf(run, event);
  const told = await Promise.allSettled(wanting.map((one) => sendNotification(one, { run, event, people })));
  const failed = told.find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
  const left = wanting.filter((_, i) => (told[i] as PromiseFulfilledResult<boolean>).value === false);
  if (left.length) {
    throw new DeliveryError(
      `${event.trigger} notification for ${run.id} was not delivered to ${left.map(({ id }) => id).join(', ')}`,
    );
  }
};
