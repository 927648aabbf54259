import { foldCase } from '#platform/store/fold-case.ts';
import { hashSecret, newSecret } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { create, get, put, queryAll, remove } from '#platform/store/table.ts';
import { expiryIn, now } from '#platform/store/time.ts';

/**
 * Links a user to their account at a forge, for each connection. A signed-in user names their account and gets a code
 * that works once; a comment with the code, written by that account, proves ownership. Posting the code from another
 * account has no effect.
 */

export interface AccountLink {
  clientId: string;
  /** The account's id at the forge, because a name can pass to another account. */
  accountId: string;
  username: string;
  userId: string;
  linkedAt: string;
}

interface Challenge {
  clientId: string;
  userId: string;
  username: string;
  /** Seconds since 1970. */
  expiresAt: number;
}

const goodForSeconds = 600;

/** 1 write. */
export const beginLink = async (
  clientId: string,
  userId: string,
  username: string,
): Promise<{ code: string; expiresAt: string }> => {
  const code = newSecret();
  const expiresAt = expiryIn(goodForSeconds);
  const challenge: Challenge = { clientId, userId, username, expiresAt };
  await create({ ...keys.linkCode(hashSecret(code)), ...challenge });
  return { code, expiresAt: new Date(expiresAt * 1000).toISOString() };
};

const isSame = (a: string, b: string): boolean => foldCase(a) === foldCase(b);

/** Links the account; undefined for an invalid code. Can be repeated until the code is spent. */
export const completeLink = async (
  clientId: string,
  account: { id: string; username: string },
  code: string,
): Promise<AccountLink | undefined> => {
  const challenge = await get<Challenge>(keys.linkCode(hashSecret(code)));
  if (!challenge || challenge.clientId !== clientId || !isSame(challenge.username, account.username)) return undefined;
  if (challenge.expiresAt < Date.now() / 1000) return undefined;
  return keepLink(clientId, account, challenge.userId);
};

/**
 * Stores the proven link. An account that is linked again stays linked meanwhile, because another of its comments may
 * be handled at the same time. 2 to 4 reads, 2 to 4 writes.
 */
export const keepLink = async (
  clientId: string,
  account: { id: string; username: string },
  userId: string,
): Promise<AccountLink> => {
  const link: AccountLink = { clientId, accountId: account.id, username: account.username, userId, linkedAt: now() };
  const former = await linkOfUser(clientId, userId);
  if (former?.accountId !== account.id) await endLink(clientId, userId);
  await put({ ...keys.linkedAccount(clientId, account.id), ...link });
  await put({ ...keys.linkOfUser(clientId, userId), accountId: account.id });
  return link;
};

/** Called last, so that an interrupted delivery can be repeated. */
export const spendCode = async (code: string): Promise<void> => {
  await remove(keys.linkCode(hashSecret(code)));
};

/** The user who owns the account. 1 read. */
export const linkOfAccount = (clientId: string, accountId: string): Promise<AccountLink | undefined> =>
  get<AccountLink>(keys.linkedAccount(clientId, accountId));

/** The user's own link. 2 reads. */
export const linkOfUser = async (clientId: string, userId: string): Promise<AccountLink | undefined> => {
  const pointer = await get<{ accountId: string }>(keys.linkOfUser(clientId, userId));
  const link = pointer && (await linkOfAccount(clientId, pointer.accountId));
  // Another user may have proved ownership since.
  return link?.userId === userId ? link : undefined;
};

export const endLink = async (clientId: string, userId: string): Promise<void> => {
  const link = await linkOfUser(clientId, userId);
  if (link) {
    await remove(keys.linkedAccount(clientId, link.accountId), {
      condition: 'userId = :me',
      values: { ':me': userId },
    });
  }
  await remove(keys.linkOfUser(clientId, userId));
};

/** Deletes the links of a deleted connection. */
export const endLinks = async (clientId: string): Promise<void> => {
  const { pk } = keys.oauthClient(clientId);
  for (const prefix of ['ACCOUNT#', 'LINKED#']) {
    for (const row of await queryAll<Key>({ pk, prefix })) await remove({ pk: row.pk, sk: row.sk });
  }
};
