import { environment } from '../environment.ts';
import { type Delivery, deliverNotification } from '../outbound/notification.ts';
import { getUsers } from '../people/accounts/users.ts';
import { getTeams } from '../people/teams/records.ts';
import type { Team } from '../people/teams/team.ts';
import { getProject } from '../projects/records.ts';
import { triggerOf, type WorkspaceEvent, workspacePayload } from '../run/auto-destroy-notice.ts';
import { type ChangeRequestEvent, changeRequestPayload } from '../run/change-request-notice.ts';
import { type HealthEvent, healthPayload, healthTriggersOf } from '../run/health-notice.ts';
import type { Payload } from '../run/notification-formats.ts';
import {
  authorOf,
  type NotificationEvent,
  type NotificationFacts,
  notificationPayload,
  type Trigger,
  teamTriggers,
} from '../run/notifications.ts';
import { nameOfCreator, type Run } from '../run/run.ts';
import { getRun } from '../runs/records.ts';
import { getWorkspace, type Workspace } from '../workspaces/records.ts';
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
  /** That it is about; absent for what teams are told. */
  projectId?: string;
  /** Of the run or the workspace. */
  aboutId: string;
  eventId: string;
  payload(configurationId: string): Payload;
}

const deliver = async (configuration: NotificationConfiguration, subject: Told): Promise<Delivery> => {
  const { id, url, destinationType } = configuration;
  const payload = subject.payload(id);
  if (destinationType === 'email') {
    return deliverEmails(configuration, {
      payload,
      projectId: subject.projectId,
      claim: (recipient) => claimDelivery(subject.aboutId, `${id}.${recipient}`, subject, subject.eventId),
      end: (recipient) => endDelivery(subject.aboutId, `${id}.${recipient}`, subject),
    });
  }
  const destination = { url: url ?? '', destinationType, token: await openToken(configuration) };
  return deliverNotification(destination, payload, environment.publicUrl);
};

/** True when it is over, however it went. */
const sendNotification = async (configuration: NotificationConfiguration, subject: Told): Promise<boolean> => {
  const { id } = configuration;
  if (!(await claimDelivery(subject.aboutId, id, subject, subject.eventId))) return true;
  const { response, again } = await deliver(configuration, subject);
  await keepResponse(id, response);
  if (again) return false;
  await endDelivery(subject.aboutId, id, subject);
  return true;
};

/** Notifies every matching configuration, in parallel. */
const tell = async (interested: NotificationConfiguration[], subject: Told): Promise<void> => {
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

const wanting = (configurations: NotificationConfiguration[], ...reasons: Trigger[]): NotificationConfiguration[] =>
  configurations.filter(({ enabled, triggers }) => enabled && reasons.some((trigger) => triggers.includes(trigger)));

/** Its own and its project's. 1 read, 1 more where the project has some. */
const configurationsOf = async (workspace: Workspace): Promise<NotificationConfiguration[]> => {
  const project = workspace.projectNotifies ? await getProject(workspace.projectId) : undefined;
  return listNotifications(workspace, ...(project ? [project] : []));
};

const wantingOf = async (workspace: Workspace, trigger: Trigger): Promise<NotificationConfiguration[]> =>
  wanting(await configurationsOf(workspace), trigger);

const tellOfRun = async (event: NotificationEvent): Promise<void> => {
  const run = await getRun(event.runId);
  const workspace = run && (await getWorkspace(run.workspaceId));
  const interested = workspace ? await wantingOf(workspace, event.trigger) : [];
  if (!run || interested.length === 0) return;
  const people = await peopleOf(run, event);
  const { publicUrl: baseUrl } = environment;
  await tell(interested, {
    ...event,
    projectId: workspace?.projectId,
    aboutId: run.id,
    eventId: event.id,
    payload: (configurationId) => notificationPayload(run, event, { ...people, configurationId, baseUrl }),
  });
};

const tellOfWorkspace = async ({ id, workspaceId, notice }: WorkspaceEvent): Promise<void> => {
  const workspace = await getWorkspace(workspaceId);
  const trigger = triggerOf(notice);
  const interested = workspace ? await wantingOf(workspace, trigger) : [];
  if (!workspace || interested.length === 0) return;
  const { publicUrl: baseUrl } = environment;
  await tell(interested, {
    trigger,
    status: notice.at,
    projectId: workspace.projectId,
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
  const configurations = await configurationsOf(workspace);
  for (const trigger of healthTriggersOf(result)) {
    await tell(wanting(configurations, trigger), {
      trigger,
      status: result.runId,
      projectId: workspace.projectId,
      aboutId: workspaceId,
      eventId: id,
      payload: (configurationId) => healthPayload(trigger, { result, prior }, workspace, { configurationId, baseUrl }),
    });
  }
};

/** Teams that were given something on the workspace or its project. */
const teamsOf = async ({ teamAccess, projectId }: Workspace): Promise<Team[]> => {
  const project = await getProject(projectId);
  return getTeams([...new Set([...Object.keys(teamAccess ?? {}), ...Object.keys(project?.teamAccess ?? {})])]);
};

const tellOfChangeRequest = async ({ id, workspaceId, changeRequest }: ChangeRequestEvent): Promise<void> => {
  const workspace = await getWorkspace(workspaceId);
  if (!workspace) return;
  const configurations = await listNotifications(...(await teamsOf(workspace)));
  const interested = wanting(configurations, ...teamTriggers);
  if (interested.length === 0) return;
  const [author] = await getUsers([changeRequest.createdBy]);
  const facts = { createdBy: author?.username ?? changeRequest.createdBy, baseUrl: environment.publicUrl };
  await tell(interested, {
    trigger: 'change_request:created',
    status: changeRequest.id,
    aboutId: workspaceId,
    eventId: id,
    payload: (configurationId) => changeRequestPayload(changeRequest, workspace, { ...facts, configurationId }),
  });
};

export const handler = (
  event: NotificationEvent | WorkspaceEvent | HealthEvent | ChangeRequestEvent,
): Promise<void> => {
  if ('changeRequest' in event) return tellOfChangeRequest(event);
  if ('result' in event) return tellOfHealth(event);
  return 'workspaceId' in event ? tellOfWorkspace(event) : tellOfRun(event);
};
