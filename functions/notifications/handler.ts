import { environment } from '../environment.ts';
import { deliverNotification } from '../outbound/notification.ts';
import { getUsers } from '../people/accounts/users.ts';
import { triggerOf, type WorkspaceEvent, type WorkspacePayload, workspacePayload } from '../run/auto-destroy-notice.ts';
import { type HealthEvent, type HealthPayload, healthPayload, healthTriggersOf } from '../run/health-notice.ts';
import {
  authorOf,
  type NotificationEvent,
  type NotificationFacts,
  type NotificationPayload,
  notificationPayload,
  type Trigger,
} from '../run/notifications.ts';
import { nameOfCreator, type Run } from '../run/run.ts';
import { getRun } from '../runs/records.ts';
import { getWorkspace, type Workspace } from '../workspaces/records.ts';
import {
  claimDelivery,
  endDelivery,
  keepResponse,
  listNotifications,
  type NotificationConfiguration,
  type Occasion,
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

interface Told extends Occasion {
  /** Of the run or the workspace. */
  aboutId: string;
  eventId: string;
  payload(configurationId: string): NotificationPayload | WorkspacePayload | HealthPayload;
}

/** True when it is over, however it went. */
const sendNotification = async (configuration: NotificationConfiguration, told: Told): Promise<boolean> => {
  const { id, url, destinationType } = configuration;
  if (!(await claimDelivery(told.aboutId, id, told, told.eventId))) return true;
  const destination = { url, destinationType, token: await openToken(configuration) };
  const { response, again } = await deliverNotification(destination, told.payload(id), environment.publicUrl);
  await keepResponse(id, response);
  if (again) return false;
  await endDelivery(told.aboutId, id, told);
  return true;
};

/** Notifies every matching configuration, in parallel. */
const tell = async (wanting: NotificationConfiguration[], told: Told): Promise<void> => {
  const outcomes = await Promise.allSettled(wanting.map((one) => sendNotification(one, told)));
  const failed = outcomes.find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
  const left = wanting.filter((_, i) => (outcomes[i] as PromiseFulfilledResult<boolean>).value === false);
  if (left.length) {
    throw new DeliveryError(
      `${told.trigger} notification for ${told.aboutId} was not delivered to ${left.map(({ id }) => id).join(', ')}`,
    );
  }
};

const wantingOf = async (workspace: Workspace, trigger: Trigger): Promise<NotificationConfiguration[]> =>
  (await listNotifications(workspace)).filter(({ enabled, triggers }) => enabled && triggers.includes(trigger));

const tellOfRun = async (event: NotificationEvent): Promise<void> => {
  const run = await getRun(event.runId);
  const workspace = run && (await getWorkspace(run.workspaceId));
  const wanting = workspace ? await wantingOf(workspace, event.trigger) : [];
  if (!run || wanting.length === 0) return;
  const people = await peopleOf(run, event);
  const { publicUrl: baseUrl } = environment;
  await tell(wanting, {
    ...event,
    aboutId: run.id,
    eventId: event.id,
    payload: (configurationId) => notificationPayload(run, event, { ...people, configurationId, baseUrl }),
  });
};

const tellOfWorkspace = async ({ id, workspaceId, notice }: WorkspaceEvent): Promise<void> => {
  const workspace = await getWorkspace(workspaceId);
  const trigger = triggerOf(notice);
  const wanting = workspace ? await wantingOf(workspace, trigger) : [];
  if (!workspace || wanting.length === 0) return;
  const { publicUrl: baseUrl } = environment;
  await tell(wanting, {
    trigger,
    status: notice.at,
    aboutId: workspaceId,
    eventId: id,
    payload: (configurationId) => workspacePayload(notice, workspace, { configurationId, baseUrl }),
  });
};

/** Of each condition that the result has. */
const tellOfHealth = async ({ id, workspaceId, result, prior }: HealthEvent): Promise<void> => {
  const workspace = await getWorkspace(workspaceId);
  if (!workspace) return;
  const { publicUrl: baseUrl } = environment;
  for (const trigger of healthTriggersOf(result)) {
    await tell(await wantingOf(workspace, trigger), {
      trigger,
      status: result.runId,
      aboutId: workspaceId,
      eventId: id,
      payload: (configurationId) => healthPayload(trigger, { result, prior }, workspace, { configurationId, baseUrl }),
    });
  }
};

export const handler = (event: NotificationEvent | WorkspaceEvent | HealthEvent): Promise<void> => {
  if ('result' in event) return tellOfHealth(event);
  return 'workspaceId' in event ? tellOfWorkspace(event) : tellOfRun(event);
};
