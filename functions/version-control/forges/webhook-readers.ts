import { isSame } from '#platform/store/id.ts';
import type { Dialect } from '../service-providers.ts';
import { eventsOf as eventsOfAzure } from './azure-devops/events.ts';
import { azureHookUser } from './azure-devops/schemas.ts';
import { eventsOf as eventsOfBitbucket } from './bitbucket/events.ts';
import { eventsOf as eventsOfBitbucketServer } from './bitbucket-server/events.ts';
import type { WebhookReader } from './forge.ts';
import { eventOf } from './github/events.ts';
import { eventOf as eventOfGitlab } from './gitlab/events.ts';
import { isHmacSigned } from './signature.ts';

const isSigned: WebhookReader['isSigned'] = (header, body, secret) =>
  isHmacSigned(header('x-hub-signature-256'), body, secret);

/** Bitbucket's header has the name that GitHub uses for SHA-1, with a signature by SHA-256. */
const isSignedByBitbucket: WebhookReader['isSigned'] = (header, body, secret) =>
  isHmacSigned(header('x-hub-signature'), body, secret);

/**
 * By dialect: the address of a webhook determines the forge, because Gitea also sends the headers of GitHub and Gogs.
 */
export const webhookReaders: Record<Dialect, WebhookReader> = {
  github: {
    isSigned,
    deliveryId: (header) => header('x-github-delivery'),
    eventsOf: (header, payload) => [eventOf(header('x-github-event'), payload)],
  },
  gitea: {
    isSigned,
    deliveryId: (header) => header('x-gitea-delivery'),
    eventsOf: (header, payload) => [eventOf(header('x-gitea-event'), payload)],
  },
  gitlab: {
    isSigned: (header, _body, secret) => isSame(header('x-gitlab-token') ?? '', secret),
    deliveryId: (header) => header('idempotency-key') ?? header('x-gitlab-event-uuid'),
    eventsOf: (header, payload) => [eventOfGitlab(header, payload)],
  },
  bitbucket: {
    isSigned: isSignedByBitbucket,
    deliveryId: (header) => header('x-request-uuid'),
    eventsOf: eventsOfBitbucket,
  },
  'bitbucket-server': {
    isSigned: isSignedByBitbucket,
    deliveryId: (header) => header('x-request-id'),
    eventsOf: eventsOfBitbucketServer,
  },
  /** Basic authentication in place of a signature: the forge sends it only over https. */
  'azure-devops': {
    isSigned: (header, _body, secret) =>
      isSame(header('authorization') ?? '', `Basic ${Buffer.from(`${azureHookUser}:${secret}`).toString('base64')}`),
    deliveryId: () => undefined,
    eventsOf: (_header, payload) => eventsOfAzure(payload),
  },
};
