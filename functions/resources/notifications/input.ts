import * as v from 'valibot';
import { unprocessable } from '#api/errors.ts';
import type { OtherFields } from '#api/known-attributes.ts';
import { outboundUrl } from '#api/outbound-url.ts';
import type { ApiRequest } from '#api/request.ts';
import { identifier, readData, setting, text } from '#api/validation.ts';
import { environment } from '#platform/environment.ts';
import type { Trigger } from '#run/notifications/kinds.ts';
import { type DestinationType, destinationTypes } from '#run/notifications/message.ts';
import { triggersFor } from './owner.ts';
import type { NotificationConfiguration, NotificationValues } from './records.ts';

/** Input of notification configurations (HCP API: notification configurations). */

const otherFields: OtherFields = {
  shown: 'created-at updated-at delivery-responses external-email-addresses user-email-addresses',
  related: 'subscribable',
};

/** Rejected here, because without SES it would never be sent. */
const noEmail =
  'this platform sends no e-mail until its operator sets a sender (setting emailSender). Use "generic" with the URL of a service that does, "slack" or "microsoft-teams"';

const destinationType = v.pipe(
  v.string(),
  v.check((type) => type !== 'email' || environment.emailSender !== undefined, `"email": ${noEmail}`),
  v.check(
    (type) => type === 'email' || (destinationTypes as readonly string[]).includes(type),
    `must be one of ${destinationTypes.join(', ')}, email`,
  ),
  v.transform((type) => type as DestinationType),
);

/** Each recipient of a configuration gets a separate e-mail. */
const maxRecipients = 50;
const tooMany = `may have at most ${maxRecipients}`;
/** ASCII only: SES accepts nothing else, and line breaks cannot start another header. */
const address = v.pipe(text(254), v.email('contains an invalid address'));

const relationships = {
  users: v.optional(v.object({ data: v.pipe(v.array(identifier('users')), v.maxLength(maxRecipients, tooMany)) })),
};

/** Without duplicates, in the order of documents. */
const triggersAmong = (choice: readonly Trigger[]) =>
  v.pipe(
    v.array(text(100)),
    v.rawCheck(({ dataset, addIssue }) => {
      const unknown = dataset.typed
        ? dataset.value.find((trigger) => !(choice as readonly string[]).includes(trigger))
        : undefined;
      if (unknown !== undefined) addIssue({ message: `${unknown} is not one of ${choice.join(', ')}` });
    }),
    v.transform((requested) => choice.filter((trigger) => requested.includes(trigger))),
  );

const name = v.pipe(text(250), v.regex(/\S/, 'is empty'));

const settings = (choice: readonly Trigger[]) => ({
  enabled: setting(v.boolean()),
  triggers: setting(triggersAmong(choice)),
  token: setting(text(1000)),
  url: setting(outboundUrl),
  'email-addresses': setting(v.pipe(v.array(address), v.maxLength(maxRecipients, tooMany))),
});

/** Clients send an empty token to remove it. */
const tokenOf = (token: string | null | undefined): string | null | undefined => (token === '' ? null : token);

const checkToken = (type: DestinationType, token: string | null | undefined): void => {
  if (!token || type === 'generic') return;
  const why = type === 'email' ? 'e-mails are not signed' : `with ${type} the URL is the secret`;
  throw unprocessable(
    '/data/attributes/token',
    `token: signs notifications of destination-type generic; ${why}. Remove it`,
  );
};

interface Recipients {
  emailAddresses?: string[];
  userIds?: string[];
}

const distinct = (all: string[]): string[] => [...new Set(all)];

/** Recipients and a URL exclude each other. */
const checkDestination = (type: DestinationType, url: string | null | undefined, recipients: Recipients): void => {
  if (type === 'email') {
    if (url)
      throw unprocessable('/data/attributes/url', 'url: not supported for e-mails. Remove it, and set recipients');
    return;
  }
  if (url === null) throw unprocessable('/data/attributes/url', 'url: is missing');
  const [field] = [
    recipients.emailAddresses?.length ? ['attributes', 'email-addresses'] : undefined,
    recipients.userIds?.length ? ['relationships', 'users'] : undefined,
  ].filter((list) => list !== undefined);
  if (!field) return;
  const why = environment.emailSender ? 'only destination-type email has recipients. Remove them' : noEmail;
  throw unprocessable(`/data/${field.join('/')}`, `${field[1]}: ${why}`);
};

/** @param choice triggers allowed for this owner. @throws {ApiError} 400 or 422 */
export const readNewNotification = (request: ApiRequest, choice: readonly Trigger[]): NotificationValues => {
  const { attributes, relationships: related } = readData(
    request,
    {
      ...settings(choice),
      name,
      'destination-type': destinationType,
    },
    relationships,
    otherFields,
  );
  const type = attributes['destination-type'];
  const token = tokenOf(attributes.token) ?? null;
  checkToken(type, token);
  const recipients = {
    emailAddresses: distinct(attributes['email-addresses'] ?? []),
    userIds: distinct(related.users?.data.map(({ id }) => id) ?? []),
  };
  checkDestination(type, attributes.url ?? null, recipients);
  return {
    name: attributes.name,
    destinationType: type,
    url: attributes.url ?? null,
    ...recipients,
    enabled: attributes.enabled ?? false,
    triggers: attributes.triggers ?? [],
    token,
  };
};

/**
 * Only the attributes in the request. As in HCP Terraform a request that names no users removes the recipients who are
 * users: its clients cannot send an empty list.
 * @throws {ApiError} 400 or 422
 */
export const readNotificationChange = (
  request: ApiRequest,
  configuration: NotificationConfiguration,
): Partial<NotificationValues> => {
  const { destinationType: type } = configuration;
  const { attributes, relationships: related } = readData(
    request,
    {
      ...settings(triggersFor(configuration)),
      name: v.optional(name),
      'destination-type': v.optional(
        v.pipe(
          v.string(),
          v.check((value) => value === type, `is ${type} and cannot be changed; create another configuration`),
        ),
      ),
    },
    relationships,
    otherFields,
  );
  const { name: called, url, enabled, triggers: chosen } = attributes;
  const token = tokenOf(attributes.token);
  checkToken(type, token);
  const addresses = attributes['email-addresses'];
  const recipients: Recipients = {
    ...(addresses === undefined ? {} : { emailAddresses: distinct(addresses ?? []) }),
    ...(related.users || type === 'email' ? { userIds: distinct(related.users?.data.map(({ id }) => id) ?? []) } : {}),
  };
  checkDestination(type, url, recipients);
  return {
    ...recipients,
    ...(called === undefined ? {} : { name: called }),
    ...(url ? { url } : {}),
    ...(enabled === undefined ? {} : { enabled: enabled ?? false }),
    ...(chosen === undefined ? {} : { triggers: chosen ?? [] }),
    ...(token === undefined ? {} : { token }),
  };
};
