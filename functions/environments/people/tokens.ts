import * as v from 'valibot';
import type { ApiRequest } from '#api/request.ts';
import { createLimited } from '#platform/store/limited.ts';
import {
  countTokens,
  deleteToken,
  getTokenById,
  issueToken,
  listTokens,
  maxTokens,
  type Token,
} from '#resources/users/tokens.ts';
import { readBody, text } from '../host/body.ts';
import { CoderError } from '../host/errors.ts';
import type { Call } from '../host/route.ts';
import { uuidOf } from '../host/uuid.ts';

/** The platform's API tokens in the form of Coder's API. They work for both APIs. */

const maxLifetimeMs = 2 * 365 * 24 * 3_600_000;
const standardLifetimeMs = 30 * 24 * 3_600_000;

const newToken = v.object({
  lifetime: v.nullish(v.pipe(v.number(), v.minValue(0))),
  token_name: v.nullish(text(100)),
  scope: v.nullish(v.string()),
  scopes: v.nullish(v.array(v.string())),
  allow_list: v.nullish(v.array(v.unknown())),
});

/** @throws {CoderError} 400, also for a limited scope, because the platform's tokens cannot be limited */
export const readNewToken = (request: ApiRequest): { name: string; lifetimeMs: number } => {
  const body = readBody(request, newToken);
  const scopes = [body.scope, ...(body.scopes ?? [])].filter((scope) => scope && !/^(all|coder:all)$/.test(scope));
  if (scopes.length) throw new CoderError(400, `Scope ${scopes[0]} is not supported: leave it out.`);
  const limited = body.allow_list?.filter((entry) => JSON.stringify(entry) !== '{"type":"*","id":"*"}') ?? [];
  if (limited.length) throw new CoderError(400, 'allow_list is not supported: leave it out.');
  const lifetimeMs = body.lifetime ? body.lifetime / 1_000_000 : standardLifetimeMs;
  if (lifetimeMs > maxLifetimeMs) {
    throw new CoderError(400, 'Failed to validate create API key request.', 'lifetime must be at most two years');
  }
  return { name: body.token_name || `token-${Date.now().toString(36)}`, lifetimeMs };
};

/** The new token inherits the limits of the creating token, as in the platform's API. @throws {CoderError} 400 */
export const issueKey = async (
  { principal }: Call,
  userId: string,
  { name, lifetimeMs }: { name: string; lifetimeMs: number },
): Promise<string> => {
  const own = await getTokenById(principal.tokenId);
  const requestedExpiry = new Date(Date.now() + lifetimeMs).toISOString();
  const expiredAt = own?.expiredAt && own.expiredAt < requestedExpiry ? own.expiredAt : requestedExpiry;
  const limit = {
    max: maxTokens,
    count: () => countTokens(userId),
    full: () => new CoderError(400, `There are already ${maxTokens} tokens, the maximum. Delete an unused one first.`),
  };
  const { secret } = await createLimited(
    limit,
    () => issueToken({ kind: 'user', userId, description: name, expiredAt, createdBy: userId }),
    ({ token }) => deleteToken(userId, token.id),
  );
  return secret;
};

export const listOwn = async (userId: string): Promise<Token[]> =>
  (await listTokens(userId)).filter(({ kind }) => kind === 'user');

/** Finds a token by id or name. */
export const findOwn = async (userId: string, named: string): Promise<Token | undefined> =>
  (await listOwn(userId)).find(({ id, description }) => id === named || description === named);

const sessionName = /^coder login /;

/** @param sessionsOnly deletes only sessions, not other tokens */
export const forget = async (
  userId: string,
  id: string,
  { sessionsOnly = false }: { sessionsOnly?: boolean } = {},
): Promise<boolean> => {
  const token = (await listOwn(userId)).find((candidate) => candidate.id === id);
  if (!token || (sessionsOnly && !sessionName.test(token.description ?? ''))) return false;
  return deleteToken(userId, id);
};

const never = '9999-12-31T00:00:00Z';

export const tokenDocument = (token: Token, username: string) => ({
  id: token.id,
  token_name: token.description ?? '',
  user_id: uuidOf(token.userId),
  username,
  scope: 'all',
  scopes: ['coder:all'],
  allow_list: [],
  login_type: 'token',
  last_used: token.lastUsedAt ?? token.createdAt,
  created_at: token.createdAt,
  updated_at: token.createdAt,
  expires_at: token.expiredAt ?? never,
  lifetime_seconds: Math.round((Date.parse(token.expiredAt ?? never) - Date.parse(token.createdAt)) / 1000),
});
