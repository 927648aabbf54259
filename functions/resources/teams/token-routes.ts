import * as v from 'valibot';
import { type Answer, noContent, ok } from '#api/answer.ts';
import { ApiError, badRequest, forbidden, notFound } from '#api/errors.ts';
import { nameOf } from '#api/naming.ts';
import { wholeList } from '#api/pagination.ts';
import { type Context, type Route, route } from '#api/route.ts';
import { readWhole } from '#api/validation.ts';
import { type InOrganization, organization } from '#resources/organizations/finder.ts';
import { accountOfTeam, ensureTeamAccount } from '#resources/users/accounts.ts';
import { tokenDocument } from '#resources/users/token-document.ts';
import { readToken } from '#resources/users/token-input.ts';
import { makeToken } from '#resources/users/token-routes.ts';
import { deleteToken, listTeamTokens, listTokens, type Token } from '#resources/users/tokens.ts';
import { team } from './finder.ts';
import { getTeams } from './records.ts';
import type { Team } from './team.ts';

/** Tokens of teams: any number with descriptions, and the legacy one without (HCP API: team tokens). */

const withoutDescription = ({ description }: Token): boolean => description === null;

const findOnly = async ({ subject }: Context<Team>): Promise<Token> => {
  const token = (await listTokens(accountOfTeam(subject.id))).find(withoutDescription);
  if (!token) throw notFound('The team has no legacy token (one without a description).');
  return token;
};

const readOnly = async (context: Context<Team>): Promise<Answer> => ok(tokenDocument(await findOnly(context)));

const make = async (context: Context<Team>, description: string | null, former: Token[] = []): Promise<Answer> => {
  const { subject, principal } = context;
  // A stolen team token could create another one that survives its revocation.
  if (principal.userId === accountOfTeam(subject.id) && !subject.owners) {
    throw forbidden('A team token cannot create tokens. Use the token of a user in the team.');
  }
  // Validates before writing, so that a rejected request creates no account.
  readToken(context.request);
  const userId = await ensureTeamAccount(subject);
  const { organization, id: teamId } = subject;
  return makeToken(context, { kind: 'team', userId, organization, teamId, description }, former);
};

/** The former token stops working at once. */
const replaceOnly = async (context: Context<Team>): Promise<Answer> => {
  const former = (await listTokens(accountOfTeam(context.subject.id))).filter(withoutDescription);
  const answer = await make(context, null, former);
  for (const { userId, id } of former) await deleteToken(userId, id);
  return answer;
};

const deleteOnly = async (context: Context<Team>): Promise<Answer> => {
  const { userId, id } = await findOnly(context);
  await deleteToken(userId, id);
  return noContent();
};

const listAll = async ({ request, subject }: Context<Team>): Promise<Answer> =>
  wholeList(
    request,
    (await listTokens(accountOfTeam(subject.id))).map((token) => tokenDocument(token)),
  );

const create = async (context: Context<Team>): Promise<Answer> => {
  const { description } = readToken(context.request);
  const tokens = await listTokens(accountOfTeam(context.subject.id));
  if (tokens.some((token) => token.description === description)) {
    // go-tfe recognizes these words.
    throw new ApiError(422, [
      {
        title: 'invalid attributes',
        detail: 'Validation failed: Description has already been taken',
        source: { pointer: '/data/attributes/description' },
      },
    ]);
  }
  return make(context, description);
};

const day = 86_400_000;
/** Values of `filter[expiry_status]`. */
const expiries: Record<string, (leftMs: number) => boolean> = {
  expired: (left) => left <= 0,
  active: (left) => left > 0,
  expiring_in_7_days: (left) => left > 0 && left <= 7 * day,
  expiring_in_30_days: (left) => left > 0 && left <= 30 * day,
  no_expiration: (left) => left === Infinity,
};

const expiryFilter = (query: URLSearchParams): ((token: Token) => boolean) => {
  const names = (query.get('filter[expiry_status]') || undefined)?.split(',');
  if (!names) return () => true;
  const unknown = names.find((name) => !Object.hasOwn(expiries, name));
  if (unknown !== undefined) {
    throw badRequest(
      `filter[expiry_status]: must be one or more of ${Object.keys(expiries).join(', ')}`,
      'filter[expiry_status]',
    );
  }
  return ({ expiredAt }) => {
    const left = expiredAt === null ? Infinity : Date.parse(expiredAt) - Date.now();
    return names.some((name) => expiries[name]?.(left));
  };
};

/** Sorts by `expired-at` or `-expired-at`; tokens without an expiry are the last to expire. */
const orderOf =
  (sort: string) =>
  (a: Token, b: Token): number => {
    const [first, second] = [a, b].map(({ expiredAt }) => (expiredAt === null ? Infinity : Date.parse(expiredAt)));
    const order = first === second ? 0 : (first ?? 0) - (second ?? 0);
    return sort.startsWith('-') ? -order : order;
  };

/** Tokens of teams whose tokens the caller may manage: the same permission as for a single token. */
const manageable = async (
  { principal }: Context<InOrganization>,
  tokens: Token[],
  isWanted: (team: Team) => boolean = () => true,
): Promise<Token[]> => {
  const teams = await getTeams([...new Set(tokens.flatMap(({ teamId }) => teamId ?? []))]);
  const granted = new Set<string>();
  for (const candidate of teams.filter(isWanted)) {
    const permissions = await principal.on({ organization: candidate.organization, team: candidate });
    if (permissions.has('team:manage-tokens')) granted.add(candidate.id);
  }
  return tokens.filter(({ teamId = '' }) => granted.has(teamId));
};

const listInOrganization = async (context: Context<InOrganization>): Promise<Answer> => {
  const { request, subject } = context;
  const fits = expiryFilter(request.query);
  const search = (request.query.get('q') ?? '').toLowerCase();
  const tokens = (await listTeamTokens(subject.organization)).filter(fits);
  const matching = await manageable(context, tokens, ({ name }) => name.toLowerCase().includes(search));
  const sorted = request.query.get('sort') ? matching.sort(orderOf(request.query.get('sort') ?? '')) : matching;
  return wholeList(
    request,
    sorted.map((token) => tokenDocument(token)),
  );
};

const named = v.object({
  data: v.pipe(v.array(v.object({ id: v.string() })), v.minLength(1, 'must name at least one token')),
});

/** Deletes all named tokens, or none when the caller cannot find one of them. */
const deleteInOrganization = async (context: Context<InOrganization>): Promise<Answer> => {
  const { organization } = context.subject;
  const ids = new Set(readWhole(context.request, named).data.map(({ id }) => id));
  const all = (await listTeamTokens(organization)).filter(({ id }) => ids.has(id));
  const owned = await manageable(context, all);
  const missing = [...ids].find((id) => !owned.some((token) => token.id === id));
  if (missing !== undefined) {
    throw notFound(
      `Team token ${missing.slice(0, 100)} not found in ${nameOf(organization)}, or you don't have access.`,
    );
  }
  for (const { userId, id } of owned) await deleteToken(userId, id);
  return noContent();
};

export const teamTokenRoutes: Route[] = [
  route('GET', '/teams/{team}/authentication-token', 'team:manage-tokens', team, readOnly),
  route('POST', '/teams/{team}/authentication-token', 'team:manage-tokens', team, replaceOnly),
  route('DELETE', '/teams/{team}/authentication-token', 'team:manage-tokens', team, deleteOnly),
  route('GET', '/teams/{team}/authentication-tokens', 'team:manage-tokens', team, listAll),
  route('POST', '/teams/{team}/authentication-tokens', 'team:manage-tokens', team, create),
  route('GET', '/organizations/{organization}/team-tokens', 'organization:read', organization, listInOrganization, {
    q: 'text',
    sort: { one: ['expired-at', '-expired-at'] },
    'filter[expiry_status]': 'text',
  }),
  route(
    'DELETE',
    '/organizations/{organization}/team-tokens',
    'team:manage-tokens',
    organization,
    deleteInOrganization,
  ),
];
