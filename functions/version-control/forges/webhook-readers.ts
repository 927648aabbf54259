import type { Dialect } from '../service-providers.ts';
import type { WebhookReader } from './forge.ts';
import { eventOf } from './github/events.ts';
import { eventOf as eventOfGitlab } from './gitlab/events.ts';
import { isHmacSigned, isSame } from './signature.ts';

const isSigned: WebhookReader['isSigned'] = (header, body, secret) =>
  isHmacSigned(header('x-hub-signature-256'), body, secret);

/**
 * By dialect: the address of a webhook determines the forge, because Gitea also sends the headers of GitHub and Gogs.
 */
export const webhookReaders: Record<Dialect, WebhookReader> = {
  github: {
    isSigned,
    deliveryId: (header) => header('x-github-delivery'),
    eventOf: (header, payload) => eventOf(header('x-github-event'), payload),
  },
  gitea: {
    isSigned,
    deliveryId: (header) => header('x-gitea-delivery'),
    eventOf: (header, payload) => eventOf(header('x-gitea-event'), payload),
  },
  gitlab: {
    isSigned: (header, _body, secret) => isSame(header('x-gitlab-token') ?? '', secret),
    deliveryId: (header) => header('idempotency-key') ?? header('x-gitlab-event-uuid'),
    eventOf: eventOfGitlab,
  },
};
