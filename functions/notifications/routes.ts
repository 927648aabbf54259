import { type Answer, created, noContent, ok } from '../api/answer.ts';
import { ApiError, notFound, unprocessable } from '../api/errors.ts';
import { inWorkspace } from '../api/finders.ts';
import { checkIfMatch, editorOf, withEtag } from '../api/guard.ts';
import { list, pageOf, pageSlice } from '../api/pagination.ts';
import type { ApiRequest } from '../api/request.ts';
import { type Context, type Finder, type Route, route } from '../api/route.ts';
import { type Delivery, type Destination, deliverNotification } from '../outbound/notification.ts';
import { verificationPayload } from '../run/notifications.ts';
import type { Editor } from '../store/edits.ts';
import { newId } from '../store/id.ts';
import { workspace } from '../workspaces/finder.ts';
import type { Workspace } from '../workspaces/records.ts';
import { notificationDocument } from './document.ts';
import { readNewNotification, readNotificationChange } from './input.ts';
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
 * Notification configurations of workspaces (HCP API: notification configurations). URLs of chats are secrets: only who
 * may change them sees them, as there.
 */

const notification: Finder<NotificationConfiguration> = {
  what: 'notification configuration',
  parameter: 'notification',
  find: ({ params }) => getNotification(params.notification ?? ''),
  ...inWorkspace,
};

const gone = () => notFound('The notification configuration was deleted at the same time.');

/** Asks the destination whether it is there. */
const verify = (
  { id, name, ...destination }: Destination & { id: string; name: string },
  { baseUrl }: ApiRequest,
): Promise<Delivery> => deliverNotification(destination, verificationPayload(id, name), baseUrl);

/** @throws {ApiError} 400 (HCP API: notification configurations) when it did not answer as it should */
const checkVerified = ({ response }: Delivery): void => {
  if (response.successful) return;
  const reason = response.code ? `it answered ${response.code}` : response.body;
  throw new ApiError(400, [
    {
      title: 'verification failed',
      detail: `The destination did not answer the verification request with 2xx: ${reason}. Check the URL, or disable the configuration and enable it later.`,
      source: { pointer: '/data/attributes/url' },
    },
  ]);
};

const shown = (configuration: NotificationConfiguration): Answer =>
  withEtag(ok(notificationDocument(configuration)), configuration);

const create = async ({ request, subject }: Context<Workspace>): Promise<Answer> => {
  const values = readNewNotification(request);
  if ((subject.notifications?.size ?? 0) >= maxNotifications) {
    throw unprocessable(
      '/data',
      `${subject.name} has ${maxNotifications} notification configurations, the maximum. Delete one first`,
    );
  }
  const id = newId('nc');
  const verification = values.enabled
    ? await verify({ ...values, id, token: values.token ?? undefined }, request)
    : undefined;
  if (verification) checkVerified(verification);
  const configuration = await createNotification(subject, id, values);
  if (!configuration) throw notFound(`Workspace ${subject.name} was deleted at the same time.`);
  return created(
    notificationDocument(
      verification ? ((await keepResponse(id, verification.response)) ?? configuration) : configuration,
    ),
  );
};

const listOfWorkspace = async ({ request, subject }: Context<Workspace>): Promise<Answer> => {
  const page = pageOf(request);
  const all = await listNotifications(subject);
  const answer = pageSlice(all, page).map(notificationDocument);
  // HCP Terraform knows no pages of them: who asks for none gets all, and hears nothing of pages.
  const isPaged = request.query.has('page[number]') || request.query.has('page[size]');
  return isPaged ? list(request, page, all.length, answer) : ok(all.map(notificationDocument));
};

/** Whether somebody would be called from now on who was not, or in another way. */
const isNews = (before: NotificationConfiguration, { enabled, url, token }: Partial<NotificationValues>): boolean =>
  (enabled ?? before.enabled) && (!before.enabled || (url ?? before.url) !== before.url || token !== undefined);

const changed = async (
  { request, subject }: Context<NotificationConfiguration>,
  change: Partial<NotificationValues>,
  editor: Editor,
): Promise<Answer> => {
  const updated = await updateNotification(subject, change, editor);
  if (updated) return shown(updated);
  const current = await getNotification(subject.id);
  if (current) await checkIfMatch(request, current, 'notification configuration');
  throw gone();
};

const update = async (context: Context<NotificationConfiguration>): Promise<Answer> => {
  const { request, subject } = context;
  const editor = await editorOf(context, subject, 'notification configuration');
  const change = readNotificationChange(request, subject);
  if (isNews(subject, change)) {
    const token = change.token === undefined ? await openToken(subject) : (change.token ?? undefined);
    const verification = await verify({ ...subject, ...change, token }, request);
    await keepResponse(subject.id, verification.response);
    checkVerified(verification);
  }
  return changed(context, change, editor);
};

const verified = async ({
  request,
  subject,
}: Context<NotificationConfiguration>): Promise<NotificationConfiguration> => {
  const verification = await verify({ ...subject, token: await openToken(subject) }, request);
  const updated = await keepResponse(subject.id, verification.response);
  checkVerified(verification);
  if (!updated) throw gone();
  return updated;
};

const enable = async (context: Context<NotificationConfiguration>): Promise<Answer> => {
  const editor = await editorOf(context, context.subject, 'notification configuration');
  await verified(context);
  return changed(context, { enabled: true }, editor);
};

const ofWorkspace = '/workspaces/{workspace}/notification-configurations';
const one = '/notification-configurations/{notification}';

export const notificationRoutes: Route[] = [
  route('POST', ofWorkspace, 'workspace:update', workspace, create),
  route('GET', ofWorkspace, 'workspace:update', workspace, listOfWorkspace),
  route('GET', one, 'workspace:update', notification, async ({ subject }) => shown(subject)),
  route('PATCH', one, 'workspace:update', notification, update),
  route('DELETE', one, 'workspace:update', notification, async ({ subject }) => {
    await deleteNotification(subject);
    return noContent();
  }),
  route('POST', `${one}/actions/verify`, 'workspace:update', notification, async (context) =>
    shown(await verified(context)),
  ),
  route('POST', `${one}/actions/enable`, 'workspace:update', notification, enable),
];
