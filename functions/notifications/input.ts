import * as v from 'valibot';
import { unprocessable } from '../api/errors.ts';
import type { OtherFields } from '../api/known-attributes.ts';
import { outboundUrl } from '../api/outbound-url.ts';
import type { ApiRequest } from '../api/request.ts';
import { readData, setting, text } from '../api/validation.ts';
import { type DestinationType, destinationTypes, type Trigger } from '../run/notifications.ts';
import { triggersFor } from './owner.ts';
import type { NotificationConfiguration, NotificationValues } from './records.ts';

/** What creating and changing notification configurations may say (HCP API: notification configurations). */

const otherFields: OtherFields = {
  shown: 'created-at updated-at delivery-responses external-email-addresses user-email-addresses',
  related: 'subscribable',
  lacking: { users: 'this platform sends no e-mail' },
};

/** Better said than never sent. */
const noMail =
  '"email" is not provided: this platform sends no e-mail. Use "generic" with the URL of a service that does, "slack" or "microsoft-teams"';

const destinationType = v.pipe(
  v.string(),
  v.check((type) => type !== 'email', noMail),
  v.check(
    (type) => type === 'email' || (destinationTypes as readonly string[]).includes(type),
    `must be one of ${destinationTypes.join(', ')}`,
  ),
  v.transform((type) => type as DestinationType),
);

/** Each once, in the order of documents. */
const triggersAmong = (choice: readonly Trigger[]) =>
  v.pipe(
    v.array(text(100)),
    v.rawCheck(({ dataset, addIssue }) => {
      const wrong = dataset.typed
        ? dataset.value.find((one) => !(choice as readonly string[]).includes(one))
        : undefined;
      if (wrong !== undefined) addIssue({ message: `${wrong} is not one of ${choice.join(', ')}` });
    }),
    v.transform((requested) => choice.filter((one) => requested.includes(one))),
  );

const name = v.pipe(text(250), v.regex(/\S/, 'is empty'));

const settings = (choice: readonly Trigger[]) => ({
  enabled: setting(v.boolean()),
  triggers: setting(triggersAmong(choice)),
  token: setting(text(1000)),
  'email-addresses': setting(v.pipe(v.array(v.string()), v.maxLength(0, noMail))),
});

/** An empty token is none: clients send one to take it away. */
const tokenOf = (token: string | null | undefined): string | null | undefined => (token === '' ? null : token);

const checkToken = (type: DestinationType, token: string | null | undefined): void => {
  if (!token || type === 'generic') return;
  throw unprocessable(
    '/data/attributes/token',
    `token: signs notifications of destination-type generic; with ${type} the URL is the secret. Remove it`,
  );
};

/** @param choice the triggers that it may have. @throws {ApiError} 400 or 422 */
export const readNewNotification = (request: ApiRequest, choice: readonly Trigger[]): NotificationValues => {
  const { attributes } = readData(
    request,
    {
      ...settings(choice),
      name,
      'destination-type': destinationType,
      url: outboundUrl,
    },
    {},
    otherFields,
  );
  const type = attributes['destination-type'];
  const token = tokenOf(attributes.token) ?? null;
  checkToken(type, token);
  return {
    name: attributes.name,
    destinationType: type,
    url: attributes.url,
    enabled: attributes.enabled ?? false,
    triggers: attributes.triggers ?? [],
    token,
  };
};

/** What was given, and nothing else. @throws {ApiError} 400 or 422 */
export const readNotificationChange = (
  request: ApiRequest,
  configuration: NotificationConfiguration,
): Partial<NotificationValues> => {
  const { destinationType: type } = configuration;
  const { attributes } = readData(
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
      url: v.optional(outboundUrl),
    },
    {},
    otherFields,
  );
  const { name: called, url, enabled, triggers: chosen } = attributes;
  const token = tokenOf(attributes.token);
  checkToken(type, token);
  return {
    ...(called === undefined ? {} : { name: called }),
    ...(url === undefined ? {} : { url }),
    ...(enabled === undefined ? {} : { enabled: enabled ?? false }),
    ...(chosen === undefined ? {} : { triggers: chosen ?? [] }),
    ...(token === undefined ? {} : { token }),
  };
};
