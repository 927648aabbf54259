import { hashSecret, newId, newSecret } from '../id.ts';
import { type Key, keys } from '../keys.ts';
import { batchGet, create, get, query, remove } from '../table.ts';

/** A user's API token. Its text is shown once, on creation; kept is its hash. */
export interface Token {
  id: string;
  userId: string;
  description: string;
  createdAt: string;
  /** From then on it is as good as unknown; null = never. */
  expiredAt: string | null;
}

/** Begins every token, so that scanners for leaked secrets can know it. */
const prefix = 'sfu_';

export const createToken = async (
  userId: string,
  description: string,
  expiredAt: string | null = null,
): Promise<{ token: Token; secret: string }> => {
  const secret = `${prefix}${newSecret()}`;
  const hash = hashSecret(secret);
  const token: Token = { id: newId('at'), userId, description, createdAt: new Date().toISOString(), expiredAt };
  // The list entry first: a token that no list shows could not be taken away.
  await create({ ...keys.userToken(userId, token.id), hash });
  await create({ ...keys.token(hash), ...token });
  return { token, secret };
};

/** The token if it is known and has not expired. 1 read. */
export const findToken = async (secret: string): Promise<Token | undefined> => {
  if (!secret.startsWith(prefix)) return undefined;
  const token = await get<Token>(keys.token(hashSecret(secret)));
  return token && (token.expiredAt === null || token.expiredAt > new Date().toISOString()) ? token : undefined;
};

interface Entry extends Key {
  hash: string;
}

export const listTokens = async (userId: string): Promise<Token[]> => {
  const entries = await query<Entry>({ pk: keys.user(userId).pk, prefix: 'TOKEN#', limit: 100 });
  return batchGet<Token & Key>(entries.map(({ hash }) => keys.token(hash)));
};

export const getToken = async (userId: string, id: string): Promise<Token | undefined> => {
  const entry = await get<Entry>(keys.userToken(userId, id));
  return entry && get<Token>(keys.token(entry.hash));
};

/** True when it was there. The token is dead at once. */
export const deleteToken = async (userId: string, id: string): Promise<boolean> => {
  const entry = await get<Entry>(keys.userToken(userId, id));
  if (!entry) return false;
  await remove(keys.token(entry.hash));
  return remove(keys.userToken(userId, id));
};
