import { many, one, type Resource } from '#api/answer.ts';
import type { OauthClient, OauthToken } from './connections.ts';
import { providerOf } from './service-providers.ts';

/** Documents of connections (HCP API: OAuth clients, OAuth tokens). They contain no secrets. */

export const callbackPath = ({ uuid }: Pick<OauthClient, 'uuid'>): string => `/auth/${uuid}/callback`;

/** @param externalId external id of its organization */
export const clientDocument = (client: OauthClient, { baseUrl, externalId }: { baseUrl: string; externalId: string }) =>
  ({
    id: client.id,
    type: 'oauth-clients',
    attributes: {
      name: client.name,
      uuid: client.uuid,
      'service-provider': client.serviceProvider,
      'service-provider-display-name': providerOf(client.serviceProvider).name,
      'http-url': client.httpUrl,
      'api-url': client.apiUrl,
      'callback-url': `${baseUrl}${callbackPath(client)}`,
      'connect-path': `/auth/${client.uuid}?organization_id=${externalId}`,
      key: client.key,
      secret: null,
      'rsa-public-key': client.rsaPublicKey,
      'organization-scoped': client.organizationScoped,
      'created-at': client.createdAt,
      'updated-at': client.updatedAt,
    },
    relationships: {
      organization: one('organizations', client.organization),
      projects: many('projects', [...(client.projectIds ?? [])].sort()),
      'oauth-tokens': {
        ...many('oauth-tokens', client.tokenId ? [client.tokenId] : []),
        links: { related: `/api/v2/oauth-clients/${client.id}/oauth-tokens` },
      },
      'agent-pool': one('agent-pools', client.agentPoolId ?? null),
    },
    links: { self: `/api/v2/oauth-clients/${client.id}` },
  }) satisfies Resource;

export const tokenDocument = (token: OauthToken): Resource => ({
  id: token.id,
  type: 'oauth-tokens',
  attributes: {
    // HCP Terraform sets it only for tokens that a user authorized (go-tfe: TestOAuthTokensList).
    uid: token.personal ? null : token.account.id,
    'created-at': token.createdAt,
    'has-ssh-key': token.sealedSshKey !== undefined,
    'service-provider-user': token.account.name,
    /** Not in HCP's API: the reason why it cannot be used, and the end of a pause that the provider requested. */
    'error-message': token.broken ?? null,
    'paused-until': token.pausedUntil && token.pausedUntil > new Date().toISOString() ? token.pausedUntil : null,
  },
  relationships: { 'oauth-client': one('oauth-clients', token.clientId) },
  links: { self: `/api/v2/oauth-tokens/${token.id}` },
});
