import { hashSecret, newId, newSecret } from '../id.ts';
import { type Key, keys } from '../keys.ts';
import { batchGet, create, get, query, remove } from '../table.ts';

/**
 * `session`: of somebody who signed in on the web page. `team` and `organization` act as an account of their own, and
 * `audit-trails` reads the audit trail and nothing else.
 */
export type TokenKind = 'user' | 'session' | 'team' | 'organization' | 'audit-trails';

/** An API token. Its text is shown once, on creation; kept is its hash. */
export interface Token {
  id: string;
  kind: TokenKind;
  /** Who acts with it: the user, or the account of the team or the organization. */
  userId: string;
  createdBy: string;
  /** None for the one token that a team had before it could have several. */
  description: string | null;
  createdAt: string;
  /** From then on it is as good as unknown; null = never. */
  expiredAt: string | null;
}

/** Begin tokens, so that scanners for leaked secrets can know them. */
const prefixes: Record<TokenKind, string> = {
  user: 'sfu_',
  session: 'sfs_',
  team: 'sfteam_',
  organization: 'sforg_',
  'audit-trails': 'sfaudit_',
};

export type NewToken = Pick<Token, 'kind' | 'userId' | 'description' | 'expiredAt'> & Partial<Pick<Token, 'createdBy'>>;
export type Shown = { token: Token; secret: string };

const newToken = ({ createdBy, ...given }: NewToken): Shown & { hash: string } => {
  const secret = `${prefixes[given.kind]}${newSecret()}`;
  const at = new Date().toISOString();
  const token: Token = { ...given, id: newId('at'), createdBy: createdBy ?? given.userId, createdAt: at };
  return { token, secret, hash: hashSecret(secret) };
};

export const issueToken = async (given: NewToken & { kind: Exclude<TokenKind, 'session'> }): Promise<Shown> => {
  const { token, secret, hash } = newToken(given);
  // The list entry first: a token that no list shows could not be taken away.
  await create({ ...keys.userToken(token.userId, token.id), hash });
  await create({ ...keys.token(hash), ...token });
  return { token, secret };
};

/**
 * Of somebody who signed in on the web page. No list has it: it ends by itself, and DynamoDB removes it then, or days
 * later.
 */
export const issueSession = async (userId: string, expiredAt: string): Promise<string> => {
  const { token, secret, hash } = newToken({ kind: 'session', userId, description: null, expiredAt });
  const expiresAt = Math.ceil(Date.parse(expiredAt) / 1000);
  await create({ ...keys.token(hash), ...token, expiresAt });
  return secret;
};

/** True when there was such a session. It is dead at once. */
export const removeSession = async (secret: string): Promise<boolean> =>
  secret.startsWith(prefixes.session) && remove(keys.token(hashSecret(secret)));

/** A user's own. */
export const createToken = (userId: string, description: string, expiredAt: string | null = null): Promise<Shown> =>
  issueToken({ kind: 'user', userId, description, expiredAt });

/** What the table has; what was made before there were kinds is a user's. */
const tokenIn = (item: Token): Token => ({
  ...item,
  kind: item.kind ?? 'user',
  createdBy: item.createdBy ?? item.userId,
});

/** The token if it is known and has not expired. 1 read. */
export const findToken = async (secret: string): Promise<Token | undefined> => {
  if (!Object.values(prefixes).some((prefix) => secret.startsWith(prefix))) return undefined;
  const item = await get<Token>(keys.token(hashSecret(secret)));
  return item && (item.expiredAt === null || item.expiredAt > new Date().toISOString()) ? tokenIn(item) : undefined;
};

interface Entry extends Key {
  hash: string;
}

export const listTokens = async (userId: string): Promise<Token[]> => {
  const entries = await query<Entry>({ pk: keys.user(userId).pk, prefix: 'TOKEN#', limit: 100 });
  return (await batchGet<Token & Key>(entries.map(({ hash }) => keys.token(hash)))).map(tokenIn);
};

export const getToken = async (userId: string, id: string): Promise<Token | undefined> => {
  const entry = await get<Entry>(keys.userToken(userId, id));
  const item = entry && (await get<Token>(keys.token(entry.hash)));
  return item && tokenIn(item);
};

/** True when it was there. The token is dead at once. */
export const deleteToken = async (userId: string, id: string): Promise<boolean> => {
  const entry = await get<Entry>(keys.userToken(userId, id));
  if (!entry) return false;
  await remove(keys.token(entry.hash));
  return remove(keys.userToken(userId, id));
};
