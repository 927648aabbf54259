import { environment } from '#platform/environment.ts';
import { type Delivery, deliverNotification } from '#platform/net/outbound/notification.ts';
import { getProject } from '#resources/projects/records.ts';
import { getSlackApp } from '#resources/slack/records.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import type { Trigger } from '#run/notifications/kinds.ts';
import type { Message } from '#run/notifications/message.ts';
import { deliverEmails } from './emails.ts';
import {
  claimDelivery,
  endDelivery,
  keepResponse,
  listNotifications,
  type NotificationConfiguration,
  type Occasion,
  openToken,
} from './records.ts';

/** Sends one notification to each interested configuration, once. */

/** Lambda retries the event (asynchronous invocation), because the destination may accept it later. */
class DeliveryError extends Error {
  override name = 'NotTakenError';
}

export interface Announcement extends Occasion {
  /** Project of the workspace; absent in notifications of teams. */
  projectId?: string;
  /** Id of the run or workspace. */
  aboutId: string;
  eventId: string;
  message(configurationId: string): Message;
}

/** Buttons only where a Slack app receives their clicks: 1 read, and none for messages without a decision. */
const withoutDeafButtons = async (
  { organization, destinationType }: NotificationConfiguration,
  { decision, ...message }: Message,
): Promise<Message> =>
  decision && (destinationType !== 'slack' || (await getSlackApp(organization))) ? { ...message, decision } : message;

const deliver = async (configuration: NotificationConfiguration, subject: Announcement): Promise<Delivery> => {
  const { id, url, destinationType } = configuration;
  const message = await withoutDeafButtons(configuration, subject.message(id));
  if (destinationType === 'email') {
    return deliverEmails(configuration, {
      message,
      projectId: subject.projectId,
      claim: (recipient) => claimDelivery(subject.aboutId, `${id}.${recipient}`, subject, subject.eventId),
      end: (recipient) => endDelivery(subject.aboutId, `${id}.${recipient}`, subject),
    });
  }
  const destination = { url: url ?? '', destinationType, token: await openToken(configuration) };
  return deliverNotification(destination, message, environment.publicUrl);
};

/** True when no retry is needed, whether it succeeded or failed. */
const sendNotification = async (configuration: NotificationConfiguration, subject: Announcement): Promise<boolean> => {
  const { id } = configuration;
  if (!(await claimDelivery(subject.aboutId, id, subject, subject.eventId))) return true;
  const { response, again } = await deliver(configuration, subject);
  await keepResponse(id, response);
  if (again) return false;
  await endDelivery(subject.aboutId, id, subject);
  return true;
};

/** Notifies the configurations in parallel. @throws {DeliveryError} */
export const announce = async (interested: NotificationConfiguration[], subject: Announcement): Promise<void> => {
  const outcomes = await Promise.allSettled(
    interested.map((configuration) => sendNotification(configuration, subject)),
  );
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed) throw failed.reason;
  const unsent = interested.filter((_, i) => (outcomes[i] as PromiseFulfilledResult<boolean>).value === false);
  if (unsent.length) {
    throw new DeliveryError(
      `${subject.trigger} notification for ${subject.aboutId} was not delivered to ${unsent.map(({ id }) => id).join(', ')}`,
    );
  }
};

export const wanting = (
  configurations: NotificationConfiguration[],
  ...reasons: Trigger[]
): NotificationConfiguration[] =>
  configurations.filter(({ enabled, triggers }) => enabled && reasons.some((trigger) => triggers.includes(trigger)));

/** Configurations of the workspace and its project. 1 read, and 1 more when the project has some. */
export const configurationsOf = async (workspace: Workspace): Promise<NotificationConfiguration[]> => {
  const project = workspace.projectNotifies ? await getProject(workspace.projectId) : undefined;
  return listNotifications(workspace, ...(project ? [project] : []));
};

export const wantingOf = async (workspace: Workspace, trigger: Trigger): Promise<NotificationConfiguration[]> =>
  wanting(await configurationsOf(workspace), trigger);
