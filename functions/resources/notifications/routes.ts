import { type Answer, created, noContent, ok } from '#api/answer.ts';
import { ApiError, deletedMeanwhile, notFound, unprocessable } from '#api/errors.ts';
import { editorOf, refusedChange, withEtag } from '#api/guard.ts';
import { nameOf } from '#api/naming.ts';
import { list, pageOf, pageSlice } from '#api/pagination.ts';
import type { ApiRequest } from '#api/request.ts';
import { type Context, type Route, route, type Subject } from '#api/route.ts';
import { type Delivery, deliverNotification } from '#platform/net/outbound/notification.ts';
import type { Editor } from '#platform/store/edits.ts';
import { newId } from '#platform/store/id.ts';
import { noteTeamNotifications } from '#resources/organizations/records.ts';
import { project } from '#resources/projects/finder.ts';
import type { Project } from '#resources/projects/records.ts';
import { team } from '#resources/teams/finder.ts';
import type { Team } from '#resources/teams/team.ts';
import { getMemberships } from '#resources/users/memberships.ts';
import { workspace } from '#resources/workspaces/finder.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import { verificationMessage } from '#run/notifications/run.ts';
import { carryNotifications, enableForOpenRuns } from './carry.ts';
import { notificationDocument } from './document.ts';
import { askRecipients, deliverEmails } from './emails.ts';
import { readNewNotification, readNotificationChange } from './input.ts';
import { type FoundNotification, notification, triggersFor } from './owner.ts';
import {
  createNotification,
  deleteNotification,
  getNotification,
  keepResponse,
  listNotifications,
  maxNotifications,
  type NotificationConfiguration,
  type NotificationValues,
  openToken,
  updateNotification,
} from './records.ts';

/**
 * Notification configurations of workspaces, projects and teams (HCP API: notification configurations). Webhook URLs
 * are secrets: as in HCP Terraform, only users with permission to change them see them.
 */

/** Sends a verification request to the destination; e-mail recipients get a verification e-mail. */
const verify = async (
  configuration: NotificationConfiguration,
  token: string | undefined,
  { baseUrl }: ApiRequest,
): Promise<Delivery> => {
  const { id, name, url, destinationType } = configuration;
  const message = verificationMessage(id, name);
  if (destinationType === 'email') return deliverEmails(configuration, { message });
  return deliverNotification({ url: url ?? '', destinationType, token }, message, baseUrl);
};

/** @throws {ApiError} 422 for users who are neither members nor invited */
const checkUsers = async (organization: string, userIds: string[] = []): Promise<void> => {
  const members = new Set((await getMemberships(organization, userIds)).map(({ userId }) => userId));
  const stranger = userIds.find((id) => !members.has(id));
  if (stranger === undefined) return;
  throw unprocessable(
    '/data/relationships/users',
    `users: user ${stranger} is not a member of ${nameOf(organization)}`,
  );
};

/** @throws {ApiError} 400 (HCP API: notification configurations) when the response was not successful */
const checkVerified = ({ response }: Delivery): void => {
  if (response.successful) return;
  const reason = response.code ? `it answered ${response.code}` : response.body;
  throw new ApiError(400, [
    {
      title: 'verification failed',
      detail:
        response.url === 'email'
          ? response.body
          : `The destination did not answer the verification request with 2xx: ${reason}. Check the URL, or disable the configuration and enable it later.`,
      source: { pointer: '/data/attributes/url' },
    },
  ]);
};

const shown = (configuration: NotificationConfiguration): Answer =>
  withEtag(ok(notificationDocument(configuration)), configuration);

type Owner = { name: string; organization: string; notifications?: Set<string> };
type Place = Pick<NotificationConfiguration, 'organization' | 'workspaceId' | 'projectId' | 'teamId'>;

const created201 = async (
  { request }: Context<Subject>,
  owner: Owner,
  place: Place,
): Promise<{ answer: Answer; isFirst: boolean }> => {
  const values = readNewNotification(request, triggersFor(place));
  const full = `${owner.name} has ${maxNotifications} notification configurations, the maximum. Delete one first`;
  // Before the verification request; the write enforces the limit.
  if (owner.notifications && owner.notifications.size >= maxNotifications) throw unprocessable('/data', full);
  await checkUsers(place.organization, values.userIds);
  const id = newId('nc');
  const isCalled = values.enabled && values.destinationType !== 'email';
  const verification = isCalled
    ? await verify({ ...values, ...place, id, createdAt: '', updatedAt: '' }, values.token ?? undefined, request)
    : undefined;
  if (verification) checkVerified(verification);
  const configuration = await createNotification(place, id, values);
  if (configuration === 'full') throw unprocessable('/data', full);
  if (!configuration) throw notFound(`${owner.name} was deleted at the same time.`);
  await askRecipients(configuration);
  const verified = verification ? await keepResponse(id, verification.response) : undefined;
  return { answer: created(notificationDocument(verified ?? configuration)), isFirst: !owner.notifications };
};

const createInWorkspace = async (context: Context<Workspace>): Promise<Answer> => {
  const { id: workspaceId, organization } = context.subject;
  const { answer, isFirst } = await created201(context, context.subject, { organization, workspaceId });
  if (isFirst) await enableForOpenRuns(context.subject);
  return answer;
};

const createInProject = async (context: Context<Project>): Promise<Answer> => {
  const { id: projectId, organization } = context.subject;
  const { answer, isFirst } = await created201(context, context.subject, { organization, projectId });
  if (isFirst) await carryNotifications(projectId);
  return answer;
};

const createInTeam = async (context: Context<Team>): Promise<Answer> => {
  const { id: teamId, organization } = context.subject;
  const { answer, isFirst } = await created201(context, context.subject, { organization, teamId });
  if (isFirst) await noteTeamNotifications(organization);
  return answer;
};

const remove = async ({ subject }: Context<FoundNotification>): Promise<Answer> => {
  await deleteNotification(subject);
  if (subject.projectId) await carryNotifications(subject.projectId);
  return noContent();
};

const listOfOwner = async ({ request, subject }: Context<Subject & Owner>): Promise<Answer> => {
  const page = pageOf(request);
  const all = await listNotifications(subject);
  const answer = pageSlice(all, page).map(notificationDocument);
  // As in HCP Terraform, the whole list is returned unless the request has page parameters.
  const isPaged = request.query.has('page[number]') || request.query.has('page[size]');
  return isPaged ? list(request, page, all.length, answer) : ok(all.map(notificationDocument));
};

/** Whether the change sends requests to a new destination. */
const isNews = (before: NotificationConfiguration, { enabled, url, token }: Partial<NotificationValues>): boolean =>
  before.destinationType !== 'email' &&
  (enabled ?? before.enabled) &&
  (!before.enabled || (url ?? before.url) !== before.url || token !== undefined);

const changed = async (
  { request, subject }: Context<FoundNotification>,
  change: Partial<NotificationValues>,
  editor: Editor,
): Promise<NotificationConfiguration> => {
  const updated = await updateNotification(subject, change, editor);
  if (updated) return updated;
  throw await refusedChange(request, 'notification configuration', await getNotification(subject.id));
};

const update = async (context: Context<FoundNotification>): Promise<Answer> => {
  const { request, subject } = context;
  const editor = await editorOf(context, subject, 'notification configuration');
  const change = readNotificationChange(request, subject);
  await checkUsers(subject.organization, change.userIds);
  if (isNews(subject, change)) {
    const token = change.token === undefined ? await openToken(subject) : (change.token ?? undefined);
    const verification = await verify({ ...subject, ...change }, token, request);
    await keepResponse(subject.id, verification.response);
    checkVerified(verification);
  }
  const updated = await changed(context, change, editor);
  if (change.emailAddresses || change.userIds?.length) await askRecipients(updated);
  return shown(updated);
};

const verified = async ({ request, subject }: Context<FoundNotification>): Promise<NotificationConfiguration> => {
  const verification = await verify(subject, await openToken(subject), request);
  const updated = await keepResponse(subject.id, verification.response);
  checkVerified(verification);
  if (!updated) throw deletedMeanwhile('notification configuration');
  return updated;
};

const enable = async (context: Context<FoundNotification>): Promise<Answer> => {
  const editor = await editorOf(context, context.subject, 'notification configuration');
  await verified(context);
  return shown(await changed(context, { enabled: true }, editor));
};

const ofWorkspace = '/workspaces/{workspace}/notification-configurations';
const ofProject = '/projects/{project}/notification-configurations';
const ofTeam = '/teams/{team}/notification-configurations';
const path = '/notification-configurations/{notification}';

export const notificationRoutes: Route[] = [
  route('POST', ofWorkspace, 'workspace:update', workspace, createInWorkspace),
  route('GET', ofWorkspace, 'workspace:update', workspace, listOfOwner),
  route('POST', ofProject, 'project:update', project, createInProject),
  route('GET', ofProject, 'project:update', project, listOfOwner),
  route('POST', ofTeam, 'team:write', team, createInTeam),
  route('GET', ofTeam, 'team:write', team, listOfOwner),
  // Configurations of a project need project:update, those of a team team:write (owner.ts).
  route('GET', path, 'workspace:update', notification, async ({ subject }) => shown(subject)),
  route('PATCH', path, 'workspace:update', notification, update),
  route('DELETE', path, 'workspace:update', notification, remove),
  route('POST', `${path}/actions/verify`, 'workspace:update', notification, async (context) =>
    shown(await verified(context)),
  ),
  route('POST', `${path}/actions/enable`, 'workspace:update', notification, enable),
];
