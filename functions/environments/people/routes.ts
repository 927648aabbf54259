import { secretOf } from '#api/bearer.ts';
import { withAuditInAllOrganizations } from '#resources/audit/trail.ts';
import { removeSession } from '#resources/users/tokens.ts';
import { json, noContent, ok } from '../host/answers.ts';
import { flagIn, pageIn, searchIn } from '../host/body.ts';
import { CoderError, invalid, notFound } from '../host/errors.ts';
import { type Call, type Route, route } from '../host/route.ts';
import { postAuthorizationCheck } from './authorization-check.ts';
import { findOwn, forget, issueKey, listOwn, readNewToken, tokenDocument } from './tokens.ts';
import {
  findOrganization,
  findPerson,
  listPeople,
  organizationDocument,
  organizationsOf,
  userDocuments,
} from './users.ts';

const person = async (call: Call) => {
  const user = await findPerson(call, call.request.params.user ?? '');
  if (!user) throw notFound();
  return user;
};

/** Includes the e-mail address, so only for users whom the caller may see. */
const visiblePerson = async (call: Call) => {
  const user = await person(call);
  if (!(await listPeople(call.principal)).some(({ id }) => id === user.id)) throw notFound();
  return user;
};

/** Only users themselves may manage their tokens. */
const self = async (call: Call) => {
  const user = await person(call);
  if (user.id !== call.principal.userId || call.principal.kind !== 'user') throw notFound();
  return user;
};

const organizations = async (call: Call) => {
  const all = await organizationsOf(call.principal);
  return ok(all.map((organization, i) => organizationDocument(organization, i === 0)));
};

const organization = async (call: Call, named = call.request.params.organization ?? '') => {
  const organization = await findOrganization(call, named);
  if (!organization) throw notFound();
  const [first] = await organizationsOf(call.principal);
  return ok(organizationDocument(organization, first?.name === organization.name));
};

const people = async ({ principal, request }: Call) => {
  const search = searchIn(request, ['', 'status', 'name', 'email']);
  const words = search.get('') ?? '';
  const { limit, offset } = pageIn(request);
  const users = (await listPeople(principal)).filter(
    ({ username, email }) =>
      `${username} ${email}`.toLowerCase().includes(words) &&
      username.toLowerCase().includes(search.get('name') ?? '') &&
      email.toLowerCase().includes(search.get('email') ?? '') &&
      // All users are active: the platform does not suspend users.
      (search.get('status') ?? 'active') === 'active',
  );
  const page = users.slice(offset, offset + limit);
  const documents = await userDocuments(page, principal.userId);
  return ok({ users: documents, count: users.length });
};

const tokenDeed = (action: string) => ({
  type: 'authentication_token',
  action,
  parameter: undefined,
  creates: action === 'create',
});

const newKey = async (call: Call, newToken: { name: string; lifetimeMs: number }) => {
  const user = await self(call);
  return withAuditInAllOrganizations({ ...call, auditAction: tokenDeed('create') }, async () =>
    json(201, { key: await issueKey(call, user.id, newToken) }),
  );
};

/** Lifetime of a command line session. */
const sessionMs = 7 * 24 * 3_600_000;

const logout = (call: Call) =>
  withAuditInAllOrganizations({ ...call, auditAction: tokenDeed('logout') }, async () => {
    const { principal, request } = call;
    if (principal.kind === 'user' && !(await removeSession(secretOf(request)))) {
      await forget(principal.userId, principal.tokenId, { sessionsOnly: true });
    }
    return ok({ message: 'Logged out!' });
  });

const removeKey = async (call: Call) => {
  const user = await self(call);
  const id = call.request.params.key ?? '';
  return withAuditInAllOrganizations({ ...call, auditAction: tokenDeed('destroy') }, async () => {
    if (!(await forget(user.id, id))) throw notFound();
    return noContent();
  });
};

const readKey = async (call: Call) => {
  const user = await self(call);
  const token = await findOwn(user.id, call.request.params.key ?? '');
  if (!token) throw notFound();
  return ok(tokenDocument(token, user.username));
};

const listKeys = async (call: Call) => {
  const user = await self(call);
  if (flagIn(call.request, 'include_all')) throw invalid('include_all', 'Tokens are shown to their own user only.');
  return ok((await listOwn(user.id)).map((token) => tokenDocument(token, user.username)));
};

const newToken = async (call: Call) => {
  const user = await self(call);
  const newToken = readNewToken(call.request);
  if ((await listOwn(user.id)).some(({ description }) => description === newToken.name)) {
    throw new CoderError(409, `A token with name "${newToken.name}" already exists.`, undefined, [
      { field: 'name', detail: 'This value is already in use and should be unique.' },
    ]);
  }
  return newKey(call, newToken);
};

/** Two years; requests give it in nanoseconds. */
const maxLifetimeMs = 2 * 365 * 24 * 3_600_000;

export const peopleRoutes: Route[] = [
  route('POST', '/authcheck', postAuthorizationCheck),
  route('POST', '/users/logout', logout),
  route('GET', '/users', people, { query: ['q', 'limit', 'offset'] }),
  route('GET', '/organizations', organizations),
  route('GET', '/organizations/{organization}', (call) => organization(call)),
  route('GET', '/users/{user}', async (call) =>
    ok((await userDocuments([await visiblePerson(call)], call.principal.userId))[0]),
  ),
  route('GET', '/users/{user}/organizations', async (call) => {
    await self(call);
    return organizations(call);
  }),
  route('GET', '/users/{user}/organizations/{organization}', (call) => organization(call)),
  route('POST', '/users/{user}/keys', (call) =>
    newKey(call, { name: `coder login ${new Date().toISOString()}`, lifetimeMs: sessionMs }),
  ),
  route('GET', '/users/{user}/keys/tokens/tokenconfig', async () =>
    ok({ max_token_lifetime: maxLifetimeMs * 1_000_000 }),
  ),
  route('GET', '/users/{user}/keys/tokens', listKeys, { query: ['include_all'] }),
  route('POST', '/users/{user}/keys/tokens', newToken),
  route('GET', '/users/{user}/keys/tokens/{key}', readKey),
  route('GET', '/users/{user}/keys/{key}', readKey),
  route('DELETE', '/users/{user}/keys/{key}', removeKey),
];
