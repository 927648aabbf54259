import * as v from 'valibot';
import { type Answer, ok } from '#api/answer.ts';
import { badRequest, notFound } from '#api/errors.ts';
import { escaped, page } from '#api/page.ts';
import type { ApiRequest } from '#api/request.ts';
import { openRoute, type Route } from '#api/route.ts';
import { currentName } from '#resources/organizations/records.ts';
import { type EmailRecipient, findByToken, unsubscribe, verifyRecipient } from './email-recipients.ts';

/**
 * Links of e-mails (HCP API: email recipient statuses). They need no API token: the link itself authorizes the
 * recipient. A GET changes nothing, because mail scanners follow links.
 */

const tokenOf = (request: ApiRequest, sent?: string): string => sent || (request.query.get('token') ?? '');

const find = async (secret: string, use: 'verify' | 'unsubscribe') => {
  const owner = await findByToken(secret, use);
  if (owner) return owner;
  throw notFound('The link is invalid or has expired. Use the link in a newer e-mail.');
};

/** The fields of a form or of a JSON document. */
const fieldsOf = (request: ApiRequest): Record<string, string> => {
  const type = request.header('content-type') ?? '';
  if (type.startsWith('application/x-www-form-urlencoded')) return Object.fromEntries(request.form());
  const parsed = v.safeParse(v.record(v.string(), v.unknown()), request.json() ?? {});
  if (!parsed.success) throw badRequest('The body must be a form or a JSON object.');
  return Object.fromEntries(
    Object.entries(parsed.output).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
};

const button = (name: string, value: string, text: string): string =>
  `<button name="${name}" value="${value}">${escaped(text)}</button>`;

const form = (secret: string, content: string): string =>
  `<form method="post"><input type="hidden" name="token" value="${escaped(secret)}">${content}</form>`;

const askToVerify = async (request: ApiRequest): Promise<Answer> => {
  const secret = tokenOf(request);
  const { recipient } = await find(secret, 'verify');
  return page(
    200,
    'Confirm notifications',
    `<p>Send Terraform notifications of <strong>${escaped(await currentName(recipient.organization))}</strong> to
<strong>${escaped(recipient.email)}</strong>?</p>
${form(secret, button('confirm', 'yes', 'Confirm'))}`,
    "'self'",
  );
};

const verify = async (request: ApiRequest): Promise<Answer> => {
  const { recipient } = await find(tokenOf(request, fieldsOf(request).token), 'verify');
  await verifyRecipient(recipient);
  return page(
    200,
    'Confirmed',
    `<p>${escaped(recipient.email)} gets notifications of ${escaped(await currentName(recipient.organization))}.</p>`,
  );
};

const document = (recipient: EmailRecipient) => ({
  id: recipient.id,
  type: 'email-recipient-statuses',
  attributes: {
    email: recipient.email,
    'verified-at': recipient.verifiedAt ?? null,
    'unsubscribed-at': recipient.unsubscribedAt ?? null,
    'delivery-failures-count': recipient.failures ?? 0,
    'created-at': recipient.createdAt,
    'updated-at': recipient.updatedAt,
  },
});

const askToUnsubscribe = async (request: ApiRequest): Promise<Answer> => {
  const secret = tokenOf(request);
  const { recipient, token } = await find(secret, 'unsubscribe');
  if (!(request.header('accept') ?? '').includes('text/html')) return ok(document(recipient));
  const name = 'unsubscribe_preference';
  const buttons = [
    ...(token.projectId ? [button(name, 'project', 'From this project only')] : []),
    button(name, 'all_organization', `From everything of ${await currentName(recipient.organization)}`),
    button(name, 'cancel', 'Keep them'),
  ];
  return page(
    200,
    'Unsubscribe',
    `<p>Stop notifications to <strong>${escaped(recipient.email)}</strong>?</p>${form(secret, buttons.join('\n'))}`,
    "'self'",
  );
};

const preferences = ['project', 'all_organization', 'cancel'];

const savePreference = async (request: ApiRequest): Promise<Answer> => {
  const fields = fieldsOf(request);
  const { recipient, token } = await find(tokenOf(request, fields.token), 'unsubscribe');
  // A mail program's one-click request (RFC 8058) unsubscribes from everything.
  const preference = fields['List-Unsubscribe'] ? 'all_organization' : (fields.unsubscribe_preference ?? '');
  if (!preferences.includes(preference)) {
    throw badRequest(`unsubscribe_preference must be one of ${preferences.join(', ')}.`);
  }
  if (preference === 'cancel') return page(200, 'Unchanged', '<p>You keep getting notifications.</p>');
  await unsubscribe(recipient, preference === 'project' ? token.projectId : undefined);
  const scope =
    preference === 'project' && token.projectId ? 'this project' : await currentName(recipient.organization);
  return page(
    200,
    'Unsubscribed',
    `<p>${escaped(recipient.email)} gets no more notifications of ${escaped(scope)}.</p>`,
  );
};

const verifying = '/email-recipient-statuses/verify';
const unsubscribing = '/email-recipient-statuses/unsubscribe';

export const emailRecipientRoutes: Route[] = [
  openRoute('GET', verifying, 'anyone', askToVerify),
  openRoute('POST', verifying, 'anyone', verify),
  openRoute('GET', unsubscribing, 'anyone', askToUnsubscribe),
  openRoute('POST', unsubscribing, 'anyone', savePreference),
];
