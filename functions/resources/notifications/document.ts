import { many } from '#api/answer.ts';
import type { DeliveryResponse } from '#platform/net/outbound/notification.ts';
import { ownerOf } from './owner.ts';
import type { NotificationConfiguration } from './records.ts';

/** HCP's API has numbers and booleans as strings here. */
const responseOf = ({ url, body, code, headers, sentAt, successful }: DeliveryResponse) => ({
  url,
  body,
  code,
  headers,
  'sent-at': sentAt,
  successful: String(successful),
});

/** Documents never contain the token. */
export const notificationDocument = (configuration: NotificationConfiguration) => ({
  id: configuration.id,
  type: 'notification-configurations',
  attributes: {
    name: configuration.name,
    'destination-type': configuration.destinationType,
    enabled: configuration.enabled,
    url: configuration.url,
    token: null,
    triggers: configuration.triggers,
    'email-addresses': configuration.emailAddresses ?? [],
    'delivery-responses': (configuration.responses ?? []).map(responseOf),
    'created-at': configuration.createdAt,
    'updated-at': configuration.updatedAt,
  },
  relationships: {
    subscribable: {
      data: ownerOf(configuration),
      links: { related: `/api/v2/${ownerOf(configuration).type}/${ownerOf(configuration).id}` },
    },
    users: many('users', configuration.userIds ?? []),
  },
  links: { self: `/api/v2/notification-configurations/${configuration.id}` },
});
