import { type Answer, accepted, json, type Resource } from '#api/answer.ts';
import { notFound, unavailable, unprocessable } from '#api/errors.ts';
import { type Context, type Route, route } from '#api/route.ts';
import { environment } from '#platform/environment.ts';
import { keys } from '#platform/store/keys.ts';
import { batchGet } from '#platform/store/table.ts';
import { accessBy } from './access.ts';
import { asForgeError } from './call.ts';
import type { OauthClient } from './connections.ts';
import { oauthClient } from './finder.ts';
import { type FollowedRepository, getRepository, hookPath, listUses } from './repositories.ts';
import { rotateSecret } from './webhooks.ts';

/** Repositories that are followed through a connection, and their webhooks. */

const document = (repository: FollowedRepository, followers: number): Resource => ({
  id: repository.id,
  type: 'followed-repositories',
  attributes: {
    identifier: repository.identifier,
    'default-branch': repository.defaultBranch,
    'http-url': repository.httpUrl,
    'webhook-url': `${environment.publicUrl}${hookPath(repository)}`,
    'has-webhook': repository.hookId !== undefined,
    'follower-count': followers,
  },
});

const list = async ({ subject }: Context<OauthClient>): Promise<Answer> => {
  const uses = await listUses(subject.id);
  const ids = [...new Set(uses.map(({ repository }) => repository))];
  const repositories = await batchGet<FollowedRepository & { pk: string; sk: string }>(ids.map(keys.repository));
  const data = repositories
    .map((one) => document(one, uses.filter(({ repository }) => repository === one.id).length))
    .sort((a, b) => (String(a.attributes?.identifier) < String(b.attributes?.identifier) ? -1 : 1));
  return json(200, { data });
};

const rotate = async ({ request, subject }: Context<OauthClient>): Promise<Answer> => {
  const repository = await getRepository(request.params.repository ?? '');
  if (repository?.clientId !== subject.id || repository.endedAt) throw notFound('Repository not found.');
  let name = 'Version control';
  try {
    const access = await accessBy(repository.tokenId);
    name = access.name;
    await rotateSecret(access, repository, environment.publicUrl);
  } catch (error) {
    const { failure, message } = asForgeError(name, error);
    throw failure === 'limited' ? unavailable(message) : unprocessable('/data', message);
  }
  return accepted();
};

const base = '/oauth-clients/{oauthClient}/repositories';

export const hookRoutes: Route[] = [
  route('GET', base, 'connection:write', oauthClient, list),
  route('POST', `${base}/{repository}/actions/rotate-secret`, 'connection:write', oauthClient, rotate),
];
