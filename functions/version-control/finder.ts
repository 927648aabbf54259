import { inOrganization, param } from '#api/finders.ts';
import type { Finder } from '#api/route.ts';
import { getClient, getToken, type OauthClient, type OauthToken } from './connections.ts';

export const oauthClient: Finder<OauthClient> = {
  what: 'OAuth client',
  parameter: 'oauthClient',
  find: (request) => getClient(param(request, 'oauthClient')),
  visibleWith: 'connection:read',
  scope: inOrganization,
};

export const oauthToken: Finder<OauthToken> = {
  what: 'OAuth token',
  parameter: 'oauthToken',
  find: async (request) => {
    const token = await getToken(param(request, 'oauthToken'));
    return token && (await getClient(token.clientId)) ? token : undefined;
  },
  visibleWith: 'connection:read',
  scope: inOrganization,
};
