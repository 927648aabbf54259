import * as v from 'valibot';
import { type Answer, created, ok, type Resource } from '#api/answer.ts';
import { notFound } from '#api/errors.ts';
import { checkPerson } from '#api/permissions/principal.ts';
import { type Context, noContentAfter, type Route, route } from '#api/route.ts';
import { readData, text } from '#api/validation.ts';
import { type AccountLink, beginLink, endLink, linkOfUser } from './account-links.ts';
import type { OauthClient } from './connections.ts';
import { oauthClient } from './finder.ts';

/** A user's own account at a connection's forge, whose comments on pull requests count as the user's. */

const username = v.pipe(text(100), v.regex(/^[\p{L}\p{N}_.@+' -]+$/u, 'must be the name of an account'));

/** Shows the code once, to the user who requested it. */
const begin = async ({ request, subject, principal }: Context<OauthClient>): Promise<Answer> => {
  checkPerson(principal);
  const { attributes } = readData(request, { username }, {}, { shown: '', related: '' });
  const { code, expiresAt } = await beginLink(subject.id, principal.userId, attributes.username);
  const data: Resource = {
    id: subject.id,
    type: 'account-link-requests',
    attributes: { username: attributes.username, comment: `stepform link ${code}`, 'expires-at': expiresAt },
  };
  return created(data);
};

const document = ({ clientId, username: name, linkedAt }: AccountLink): Resource => ({
  id: clientId,
  type: 'account-links',
  attributes: { username: name, 'linked-at': linkedAt },
});

const show = async ({ subject, principal }: Context<OauthClient>): Promise<Answer> => {
  const link = await linkOfUser(subject.id, principal.userId);
  if (!link) throw notFound('You have not linked an account by this connection.');
  return ok(document(link));
};

const end = noContentAfter(({ id }: OauthClient, { principal }) => endLink(id, principal.userId));

const path = '/oauth-clients/{oauthClient}/account-link';

export const accountRoutes: Route[] = [
  route('GET', path, 'connection:read', oauthClient, show),
  route('POST', path, 'connection:read', oauthClient, begin),
  route('DELETE', path, 'connection:read', oauthClient, end),
];
