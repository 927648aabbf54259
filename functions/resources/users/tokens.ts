import type { CallerKind } from '#api/permissions/principal.ts';
import { hashSecret, newId, newSecret } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { batchGet, type Change, create, get, queryAll, remove, update } from '#platform/store/table.ts';

/**
 * `session`: of somebody who signed in on the web page. `team` and `organization` act as an account of their own, and
 * `audit-trails` reads the audit trail and nothing else. `agent` is of no use to the public API: it lets a program be an
 * agent of its pool, whose id stands in place of a user's.
 */
export type TokenKind = CallerKind | 'agent';

/** An API token. Its text is shown once, on creation; kept is its hash. */
export interface Token {
  id: string;
  kind: TokenKind;
  /** Who acts with it: the user, or the account of the team or the organization. */
  userId: string;
  createdBy: string;
  /** The token of a team or an organization that it was made with, and ends with. */
  madeWith?: string;
  /** Where it belongs, when it is not a user's. */
  organization?: string;
  teamId?: string;
  /** None for the one token that a team had before it could have several. */
  description: string | null;
  createdAt: string;
  /** From then on it is as good as unknown; null = never. */
  expiredAt: string | null;
  /** To the hour. */
  lastUsedAt?: string;
  /** Of an agent pool: what its agents do, from its first use on. Absent for one that was used before there was a choice. */
  purpose?: AgentPurpose;
  /** Of an agent pool whose organization has IP allowlists (resources/ip-allowlists/flags.ts). */
  ipAllowlists?: number;
}

/** What an agent is for: Terraform's runs, or requests of the platform, whose credentials Terraform must not reach. */
export type AgentPurpose = 'runs' | 'forwarding';

/** Begin tokens, so that scanners for leaked secrets can know them. */
const prefixes: Record<TokenKind, string> = {
  user: 'sfu_',
  session: 'sfs_',
  team: 'sfteam_',
  organization: 'sforg_',
  'audit-trails': 'sfaudit_',
  agent: 'sfagent_',
};

export type NewToken = Pick<Token, 'kind' | 'userId' | 'description' | 'expiredAt'> &
  Partial<Pick<Token, 'createdBy' | 'organization' | 'teamId' | 'madeWith'>>;

export type IssuedToken = { token: Token; secret: string };

const newToken = ({ createdBy, ...values }: NewToken): IssuedToken & { hash: string } => {
  const secret = `${prefixes[values.kind]}${newSecret()}`;
  const at = new Date().toISOString();
  const token: Token = { ...values, id: newId('at'), createdBy: createdBy ?? values.userId, createdAt: at };
  return { token, secret, hash: hashSecret(secret) };
};

/** By whose it is, by its own id, those of teams by the organization, and by what it was made with. */
const pointersTo = ({ id, kind, userId, organization, madeWith }: Token, hash: string): Key[] => [
  keys.userToken(userId, id),
  keys.tokenId(id),
  ...(kind === 'team' && organization ? [keys.teamToken(organization, id)] : []),
  ...(madeWith ? [keys.madeToken(madeWith, hash)] : []),
];

export const issueToken = async (values: NewToken & { kind: Exclude<TokenKind, 'session'> }): Promise<IssuedToken> => {
  const { token, secret, hash } = newToken(values);
  // What leads to it first: a token that no list shows could not be taken away.
  for (const key of pointersTo(token, hash)) await create({ ...key, hash });
  await create({ ...keys.token(hash), ...token });
  // What it was made with may have been deleted meanwhile, with all that it had made until then.
  if (token.madeWith && !(await getTokenById(token.madeWith))) await deleteToken(token.userId, token.id);
  return { token, secret };
};

/**
 * Of somebody who signed in on the web page. No list has it: it ends by itself, and DynamoDB removes it then, or days
 * later.
 * @param identity hash of what it began with, and ends with (identities.ts)
 */
export const issueSession = async (userId: string, expiredAt: string, identity?: string): Promise<string> => {
  const { token, secret, hash } = newToken({ kind: 'session', userId, description: null, expiredAt });
  const expiresAt = Math.ceil(Date.parse(expiredAt) / 1000);
  if (identity !== undefined) await create({ ...keys.identitySession(identity, hash), expiresAt });
  await create({ ...keys.token(hash), ...token, expiresAt });
  // Whoever disconnects it removes it first, and ends its sessions then.
  if (identity !== undefined && !(await get(keys.identity(identity)))) await endSession(hash);
  return secret;
};

/** By the hash of its token. */
export const endSession = (hash: string): Promise<boolean> => remove(keys.token(hash));

/** True when there was such a session. It is dead at once. */
export const removeSession = async (secret: string): Promise<boolean> =>
  secret.startsWith(prefixes.session) && remove(keys.token(hashSecret(secret)));

/** A user's own. */
export const createToken = (
  userId: string,
  description: string,
  expiredAt: string | null = null,
): Promise<IssuedToken> => issueToken({ kind: 'user', userId, description, expiredAt });

/** What the table has; what was made before there were kinds is a user's. */
const tokenIn = (item: Token): Token => ({
  ...item,
  kind: item.kind ?? 'user',
  createdBy: item.createdBy ?? item.userId,
});

const isOf = (kind: TokenKind, secret: string): boolean => secret.startsWith(prefixes[kind]);

const find = async (secret: string): Promise<Token | undefined> => {
  const item = await get<Token>(keys.token(hashSecret(secret)));
  return item && (item.expiredAt === null || item.expiredAt > new Date().toISOString()) ? tokenIn(item) : undefined;
};

const kinds = Object.keys(prefixes) as TokenKind[];

/** The token if it is known, has not expired, and is one for the public API. 1 read. */
export const findToken = async (secret: string): Promise<(Token & { kind: CallerKind }) | undefined> => {
  if (!kinds.some((kind) => kind !== 'agent' && isOf(kind, secret))) return undefined;
  return (await find(secret)) as Token & { kind: CallerKind };
};

/** The token of an agent pool, if it is known and has not expired. 1 read. */
export const findAgentToken = async (secret: string): Promise<Token | undefined> =>
  isOf('agent', secret) ? find(secret) : undefined;

/**
 * Whether the token may be used for that. Its first use decides for good: code that runs on a machine with an agent may
 * get at the agent's token, and must not get other agents' requests by it. 1 write for the first use.
 */
export const claimPurpose = async (token: Token, secret: string, purpose: AgentPurpose): Promise<boolean> => {
  const current = token.purpose ?? (token.lastUsedAt === undefined ? undefined : 'runs');
  if (current) return current === purpose;
  const claimed = await update(keys.token(hashSecret(secret)), {
    set: { purpose },
    condition: 'attribute_exists(pk) AND (attribute_not_exists(purpose) OR purpose = :purpose)',
    values: { ':purpose': purpose },
  });
  return claimed !== undefined;
};

/** How far `lastUsedAt` may be behind: so often it is written, not with each request. */
const notedMs = 3_600_000;

/** Notes that a token was used, if that was not noted a while ago. */
export const recordTokenUse = async (token: Token, secret: string): Promise<void> => {
  const now = new Date().toISOString();
  const before = new Date(Date.now() - notedMs).toISOString();
  if (token.lastUsedAt !== undefined && token.lastUsedAt > before) return;
  await update(keys.token(hashSecret(secret)), {
    set: { lastUsedAt: now },
    condition: 'attribute_exists(pk) AND (attribute_not_exists(lastUsedAt) OR lastUsedAt <= :before)',
    values: { ':before': before },
  });
};

interface Entry extends Key {
  hash: string;
}

const tokensOf = async (entries: Entry[]): Promise<Token[]> => {
  const tokens = await batchGet<Token & Key>(entries.map(({ hash }) => keys.token(hash)));
  return tokens.map(tokenIn);
};

/** Most that one user, team or agent pool has, sessions aside. */
export const maxTokens = 100;

const entriesOf = (userId: string): Promise<Entry[]> => queryAll<Entry>({ pk: keys.user(userId).pk, prefix: 'TOKEN#' });

/** Sessions aside. 1 query. */
export const countTokens = async (userId: string): Promise<number> => (await entriesOf(userId)).length;

/** Those of a user or an account, sessions aside, in the order of their making. */
export const listTokens = async (userId: string): Promise<Token[]> => inOrder(await tokensOf(await entriesOf(userId)));

/** Those of all teams of the organization. */
export const listTeamTokens = async (organization: string): Promise<Token[]> =>
  inOrder(await tokensOf(await queryAll<Entry>({ pk: keys.organization(organization).pk, prefix: 'TEAMTOKEN#' })));

const inOrder = (tokens: Token[]): Token[] => tokens.sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));

const changeTokensOf = async (userId: string, change: Change): Promise<void> => {
  const entries = await entriesOf(userId);
  await Promise.all(entries.map(({ hash }) => update(keys.token(hash), change)));
};

/** The agents' address is looked up from now on. As with memberships (memberships.ts). */
export const noteIpAllowlistsOfTokens = (poolId: string, version: number): Promise<void> =>
  changeTokensOf(poolId, { set: { ipAllowlists: version }, condition: 'attribute_exists(pk)' });

/** Unless a later version has been noted meanwhile. */
export const forgetIpAllowlistsOfTokens = (poolId: string, version: number): Promise<void> =>
  changeTokensOf(poolId, {
    remove: ['ipAllowlists'],
    condition: 'ipAllowlists <= :version',
    values: { ':version': version },
  });

const read = async (entry: Entry | undefined): Promise<Token | undefined> => {
  const item = entry && (await get<Token>(keys.token(entry.hash)));
  return item && tokenIn(item);
};

export const getToken = async (userId: string, id: string): Promise<Token | undefined> =>
  read(await get<Entry>(keys.userToken(userId, id)));

/** Whosever it is. Those from before there were kinds are found by their user only. */
export const getTokenById = async (id: string): Promise<Token | undefined> => read(await get<Entry>(keys.tokenId(id)));

/** True when it was there. It is dead at once, and so is what was made with it. */
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

/** All of a user or an account. They are dead at once. */
export const deleteTokensOf = async (userId: string): Promise<void> => {
  for (const { id } of await listTokens(userId)) await deleteToken(userId, id);
};
