import { type Answer, created, noContent, ok } from '#api/answer.ts';
import { notFound, unprocessable } from '#api/errors.ts';
import { nameOf } from '#api/naming.ts';
import { wholeList } from '#api/pagination.ts';
import type { Permission } from '#api/permissions/permissions.ts';
import type { Principal } from '#api/permissions/principal.ts';
import { type Call, type Route, userRoute } from '#api/route.ts';
import { createLimited } from '#platform/store/limited.ts';
import { getOrganization } from '#resources/organizations/records.ts';
import { latestExpiry } from '#resources/organizations/token-ttl.ts';
import { getTeam } from '#resources/teams/records.ts';
import { tokenDocument } from './token-document.ts';
import { readToken } from './token-input.ts';
import {
  countTokens,
  deleteToken,
  getToken,
  getTokenById,
  issueToken,
  listTokens,
  maxTokens,
  type NewToken,
  type Token,
} from './tokens.ts';

/** Tokens of users, and all tokens by their ids (HCP API: user tokens, team tokens, agent tokens). */

const noUser = () => notFound("User not found, or you don't have access.");
const noToken = () => notFound("Token not found, or you don't have access.");

/**
 * A token created with a team or organization token ends with that token, by deletion and by expiry; otherwise a
 * stolen token could create one that survives its revocation. A token that replaces the creating token inherits that
 * token's bounds.
 */
const boundTo = async (
  { kind, tokenId }: Principal,
  { expiredAt }: Pick<NewToken, 'expiredAt'>,
  former: Token[],
): Promise<Pick<NewToken, 'madeWith' | 'expiredAt'>> => {
  if (kind === 'user') return { expiredAt };
  const end = (await getTokenById(tokenId))?.expiredAt ?? null;
  if (end !== null && expiredAt !== null && expiredAt > end) {
    throw unprocessable(
      '/data/attributes/expired-at',
      `expired-at: must not be later than ${end}, when the token of this request expires`,
    );
  }
  const replaced = former.find(({ id }) => id === tokenId);
  return { madeWith: replaced ? replaced.madeWith : tokenId, expiredAt: expiredAt ?? end };
};

/**
 * Latest expiry that the organization allows for the token; undefined without a limit. 1 read, none for users and
 * agents.
 */
const allowedEnd = async (
  { kind, organization }: Pick<NewToken, 'kind'> & Partial<NewToken>,
  { expiredAt }: Pick<NewToken, 'expiredAt'>,
): Promise<string | undefined> => {
  if (!organization || kind === 'agent') return undefined;
  const home = await getOrganization(organization);
  const latest = home && latestExpiry(kind, home);
  if (latest && expiredAt && expiredAt > latest) {
    throw unprocessable(
      '/data/attributes/expired-at',
      `expired-at: must not be later than ${latest}, by the token TTL policy of ${nameOf(organization)}`,
    );
  }
  return latest;
};

/** Default expiry of a token, as in HCP Terraform. Agent tokens have none. */
const defaultEnd = (kind: Token['kind']): string | null => {
  if (kind === 'agent') return null;
  const end = new Date();
  end.setUTCFullYear(end.getUTCFullYear() + (kind === 'scim' ? 1 : 2));
  return end.toISOString();
};

/**
 * Creates the requested token and returns its secret, which is shown only once.
 * @param former tokens that it replaces; the caller deletes them afterwards
 */
export const makeToken = async (
  { request, principal }: Call,
  owner: Pick<NewToken, 'kind' | 'userId'> & Partial<NewToken>,
  former: Token[] = [],
): Promise<Answer> => {
  const read = readToken(request);
  const latest = await allowedEnd(owner, read);
  const bounds = await boundTo(principal, read, former);
  const ends = [bounds.expiredAt ?? defaultEnd(owner.kind), latest].filter((end) => typeof end === 'string');
  const expiredAt = ends.sort()[0] ?? null;
  const newToken = { ...read, ...owner, ...bounds, expiredAt, createdBy: principal.userId } as NewToken & {
    kind: 'user';
  };
  const limit = {
    max: maxTokens,
    count: () => countTokens(owner.userId),
    full: () =>
      unprocessable('/data', `there are already ${maxTokens} tokens, the maximum. Delete an unused one first`),
  };
  const { token, secret } = await createLimited(
    limit,
    () => issueToken(newToken),
    (issued) => deleteToken(owner.userId, issued.token.id),
  );
  return created(tokenDocument(token, secret));
};

/** Only users list and create their own tokens. */
const ownTokens = ({ request, principal }: Call): string => {
  if (request.params.user !== principal.userId || principal.kind !== 'user') throw noUser();
  return principal.userId;
};

const listOwn = async (call: Call): Promise<Answer> =>
  wholeList(
    call.request,
    (await listTokens(ownTokens(call))).map((token) => tokenDocument(token)),
  );

const createOwn = async (call: Call): Promise<Answer> => {
  const { description } = readToken(call.request);
  return makeToken(call, { kind: 'user', userId: ownTokens(call), description: description ?? '' });
};

const managing: Partial<Record<Token['kind'], Permission>> = {
  team: 'team:manage-tokens',
  agent: 'agent-pool:write',
};

const isTheirs = async (principal: Principal, { kind, userId, organization, teamId }: Token): Promise<boolean> => {
  if (kind === 'user') return principal.kind === 'user' && userId === principal.userId;
  if (!organization) return false;
  const needs = managing[kind] ?? 'organization:manage-tokens';
  const team = teamId === undefined ? undefined : await getTeam(teamId);
  return (await principal.on({ organization, team })).has(needs);
};

/** Finds a token of any owner that the caller may manage. */
const findTheirs = async ({ request, principal }: Call): Promise<Token> => {
  const id = request.params.token ?? '';
  const token = (await getTokenById(id)) ?? (await getToken(principal.userId, id));
  if (!token || !(await isTheirs(principal, token))) throw noToken();
  return token;
};

const readOne = async (call: Call): Promise<Answer> => ok(tokenDocument(await findTheirs(call)));

const deleteOne = async (call: Call): Promise<Answer> => {
  const { userId, id } = await findTheirs(call);
  if (!(await deleteToken(userId, id))) throw noToken();
  return noContent();
};

export const tokenRoutes: Route[] = [
  userRoute('GET', '/users/{user}/authentication-tokens', 'any user', listOwn),
  userRoute('POST', '/users/{user}/authentication-tokens', 'any user', createOwn),
  userRoute('GET', '/authentication-tokens/{token}', 'any user', readOne),
  userRoute('DELETE', '/authentication-tokens/{token}', 'any user', deleteOne),
];
