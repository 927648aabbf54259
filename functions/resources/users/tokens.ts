import type { CallerKind } from '#api/permissions/principal.ts';
import { hashSecret, newId, newSecret } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { batchGet, type Change, create, get, queryAll, remove, updateExisting } from '#platform/store/table.ts';

/**
 * `session` belongs to a user signed in on the web page. `team` and `organization` act as an account of their own,
 * and `audit-trails` only reads the audit trail. The public API does not accept the others: `agent` registers agents
 * of its pool, whose id takes the place of a user id, and `scim` is a directory's (resources/scim/).
 */
export type TokenKind = CallerKind | 'agent' | 'scim';

/** An API token. Its secret is shown once, on creation; only a hash is stored. */
export interface Token {
  id: string;
  kind: TokenKind;
  /** The user, or the account of the team or organization, that acts with the token. */
  userId: string;
  createdBy: string;
  /** The team or organization token that created this one; its deletion deletes this one too. */
  madeWith?: string;
  /** Organization of a token that does not belong to a user. */
  organization?: string;
  teamId?: string;
  /** Null for the legacy token of a team. */
  description: string | null;
  createdAt: string;
  /** The token is rejected from then on; null = never. */
  expiredAt: string | null;
  /** Rounded to the hour. */
  lastUsedAt?: string;
  /** The purpose of the agents that use a pool's token, fixed at its first use. */
  purpose?: AgentPurpose;
  /** Set if the pool's organization has IP allowlists (resources/ip-allowlists/flags.ts). */
  ipAllowlists?: number;
  /** A session that single sign-on started. */
  sso?: true;
}

/**
 * Whether an agent carries out Terraform runs, or forwards the platform's requests, whose credentials Terraform must
 * not reach.
 */
export type AgentPurpose = 'runs' | 'forwarding';

/** Token prefixes, by which secret scanners recognize leaked tokens. */
const prefixes: Record<TokenKind, string> = {
  user: 'sfu_',
  session: 'sfs_',
  team: 'sfteam_',
  organization: 'sforg_',
  'audit-trails': 'sfaudit_',
  agent: 'sfagent_',
  scim: 'sfscim_',
};

/** Milliseconds from creation to expiry; Infinity without expiry. */
export const lifetimeOf = ({ createdAt, expiredAt }: Pick<Token, 'createdAt' | 'expiredAt'>): number =>
  expiredAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiredAt) - Date.parse(createdAt);

export type NewToken = Pick<Token, 'kind' | 'userId' | 'description' | 'expiredAt'> &
  Partial<Pick<Token, 'createdBy' | 'organization' | 'teamId' | 'madeWith'>>;

export type IssuedToken = { token: Token; secret: string };

const newToken = ({ createdBy, ...values }: NewToken): IssuedToken & { hash: string } => {
  const secret = `${prefixes[values.kind]}${newSecret()}`;
  const at = new Date().toISOString();
  const token: Token = { ...values, id: newId('at'), createdBy: createdBy ?? values.userId, createdAt: at };
  return { token, secret, hash: hashSecret(secret) };
};

/** Pointers by user, by id, by organization for team tokens, and by the creating token. */
const pointersTo = ({ id, kind, userId, organization, madeWith }: Token, hash: string): Key[] => [
  keys.userToken(userId, id),
  keys.tokenId(id),
  ...(kind === 'team' && organization ? [keys.teamToken(organization, id)] : []),
  ...(madeWith ? [keys.madeToken(madeWith, hash)] : []),
];

export const issueToken = async (values: NewToken & { kind: Exclude<TokenKind, 'session'> }): Promise<IssuedToken> => {
  const { token, secret, hash } = newToken(values);
  // Pointers are written first: a token missing from every list could not be revoked.
  for (const key of pointersTo(token, hash)) await create({ ...key, hash });
  await create({ ...keys.token(hash), ...token });
  // The creating token may have been deleted meanwhile, together with all tokens it had created.
  if (token.madeWith && !(await getTokenById(token.madeWith))) await deleteToken(token.userId, token.id);
  return { token, secret };
};

/**
 * Token of a user signed in on the web page. It is in no list: it expires, and DynamoDB removes it then or days
 * later.
 * @param identity hash of the identity that started the session, and ends it (identities.ts)
 */
export const issueSession = async (userId: string, expiredAt: string, identity?: string): Promise<string> => {
  const { token, secret, hash } = newToken({ kind: 'session', userId, description: null, expiredAt });
  const expiresAt = Math.ceil(Date.parse(expiredAt) / 1000);
  const pointer = identity === undefined ? keys.userSession(userId, hash) : keys.identitySession(identity, hash);
  await create({ ...pointer, expiresAt });
  await create({ ...keys.token(hash), ...token, ...(identity === undefined ? {} : { sso: true }), expiresAt });
  // Disconnecting an identity removes it first and then ends its sessions.
  if (identity !== undefined && !(await get(keys.identity(identity)))) await endSession(hash);
  return secret;
};

export const endSession = (hash: string): Promise<boolean> => remove(keys.token(hash));

/** True when the session existed. Takes effect at once. */
export const removeSession = async (secret: string): Promise<boolean> =>
  secret.startsWith(prefixes.session) && remove(keys.token(hashSecret(secret)));

export const createToken = (
  userId: string,
  description: string,
  expiredAt: string | null = null,
): Promise<IssuedToken> => issueToken({ kind: 'user', userId, description, expiredAt });

const isOf = (kind: TokenKind, secret: string): boolean => secret.startsWith(prefixes[kind]);

const find = async (secret: string): Promise<Token | undefined> => {
  const item = await get<Token>(keys.token(hashSecret(secret)));
  return item && (item.expiredAt === null || item.expiredAt > new Date().toISOString()) ? item : undefined;
};

const kinds = (Object.keys(prefixes) as TokenKind[]).filter((kind) => kind !== 'agent' && kind !== 'scim');

/** The token if it exists, has not expired, and is accepted by the public API. 1 read. */
export const findToken = async (secret: string): Promise<(Token & { kind: CallerKind }) | undefined> => {
  if (!kinds.some((kind) => isOf(kind, secret))) return undefined;
  return (await find(secret)) as Token & { kind: CallerKind };
};

/** The directory's token, if it exists and has not expired. 1 read. */
export const findScimToken = async (secret: string): Promise<Token | undefined> =>
  isOf('scim', secret) ? find(secret) : undefined;

/** The agent pool token, if it exists and has not expired. 1 read. */
export const findAgentToken = async (secret: string): Promise<Token | undefined> =>
  isOf('agent', secret) ? find(secret) : undefined;

/**
 * Whether the token may be used for this purpose. Its first use fixes the purpose, because code on an agent's machine
 * could read the agent's token and must not receive requests of other agents with it. 1 write for the first use.
 */
export const claimPurpose = async (token: Token, secret: string, purpose: AgentPurpose): Promise<boolean> => {
  if (token.purpose) return token.purpose === purpose;
  const claimed = await updateExisting(keys.token(hashSecret(secret)), {
    set: { purpose },
    condition: 'attribute_not_exists(purpose) OR purpose = :purpose',
    values: { ':purpose': purpose },
  });
  return claimed !== undefined;
};

/** Maximum delay of `lastUsedAt`, which is written once per hour instead of with each request. */
const notedMs = 3_600_000;

/** Records the use of a token, unless one was recorded within the last hour. */
export const recordTokenUse = async (token: Token, secret: string): Promise<void> => {
  const now = new Date().toISOString();
  const before = new Date(Date.now() - notedMs).toISOString();
  if (token.lastUsedAt !== undefined && token.lastUsedAt > before) return;
  await updateExisting(keys.token(hashSecret(secret)), {
    set: { lastUsedAt: now },
    condition: 'attribute_not_exists(lastUsedAt) OR lastUsedAt <= :before',
    values: { ':before': before },
  });
};

interface Entry extends Key {
  hash: string;
}

const tokensOf = (entries: Entry[]): Promise<Token[]> =>
  batchGet<Token & Key>(entries.map(({ hash }) => keys.token(hash)));

/** Maximum number of tokens of a user, team or agent pool, without sessions. */
export const maxTokens = 100;

const entriesOf = (userId: string): Promise<Entry[]> => queryAll<Entry>({ pk: keys.user(userId).pk, prefix: 'TOKEN#' });

/** Number of tokens without sessions. 1 query. */
export const countTokens = async (userId: string): Promise<number> => (await entriesOf(userId)).length;

/** Tokens of a user or account without sessions, in order of creation. */
export const listTokens = async (userId: string): Promise<Token[]> => inOrder(await tokensOf(await entriesOf(userId)));

/** Tokens of all teams of the organization. */
export const listTeamTokens = async (organization: string): Promise<Token[]> =>
  inOrder(await tokensOf(await queryAll<Entry>({ pk: keys.organization(organization).pk, prefix: 'TEAMTOKEN#' })));

const inOrder = (tokens: Token[]): Token[] => tokens.sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));

const changeTokensOf = async (userId: string, change: Change): Promise<void> => {
  const entries = await entriesOf(userId);
  await Promise.all(entries.map(({ hash }) => updateExisting(keys.token(hash), change)));
};

/** Starts the address checks for the pool's agents, like those of members (memberships.ts). */
export const noteIpAllowlistsOfTokens = (poolId: string, version: number): Promise<void> =>
  changeTokensOf(poolId, { set: { ipAllowlists: version } });

/** Does nothing when a later version was noted meanwhile. */
export const forgetIpAllowlistsOfTokens = (poolId: string, version: number): Promise<void> =>
  changeTokensOf(poolId, {
    remove: ['ipAllowlists'],
    condition: 'ipAllowlists <= :version',
    values: { ':version': version },
  });

const read = async (entry: Entry | undefined): Promise<Token | undefined> =>
  entry && get<Token>(keys.token(entry.hash));

export const getToken = async (userId: string, id: string): Promise<Token | undefined> =>
  read(await get<Entry>(keys.userToken(userId, id)));

/** Finds a token of any owner. */
export const getTokenById = async (id: string): Promise<Token | undefined> => read(await get<Entry>(keys.tokenId(id)));

/** True when the token existed. It and all tokens it created stop working at once. */
export const deleteToken = async (userId: string, id: string): Promise<boolean> => {
  const entry = await get<Entry>(keys.userToken(userId, id));
  if (!entry) return false;
  const token = await read(entry);
  await remove(keys.token(entry.hash));
  // Before the pointers, so that an interrupted deletion can be repeated.
  if (token?.kind !== 'user') await deleteMade(id);
  if (token?.organization) await remove(keys.teamToken(token.organization, id));
  if (token?.madeWith) await remove(keys.madeToken(token.madeWith, entry.hash));
  await remove(keys.tokenId(id));
  return remove(keys.userToken(userId, id));
};

const deleteMade = async (id: string): Promise<void> => {
  const entries = await queryAll<Entry>({ pk: keys.tokenId(id).pk, prefix: 'MADE#' });
  for (const { pk, sk, hash } of entries) {
    const token = await get<Token>(keys.token(hash));
    if (token) await deleteToken(token.userId, token.id);
    await remove({ pk, sk });
  }
};

/** All tokens of a user or account. They stop working at once. */
export const deleteTokensOf = async (userId: string): Promise<void> => {
  for (const { id } of await listTokens(userId)) await deleteToken(userId, id);
};
