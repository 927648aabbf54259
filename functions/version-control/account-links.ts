import { hashSecret, newSecret } from '../store/id.ts';
import { type Key, keys } from '../store/keys.ts';
import { create, get, put, queryAll, remove } from '../store/table.ts';
import { now } from '../store/time.ts';

/**
 * Which account at a forge is whose here, for each connection. Somebody who is signed in here names their account and gets a
 * code that is good once; a comment with it, by that very account, proves that it is theirs. Whoever reads the comment and
 * repeats it with another account gets nothing by it.
 */

export interface AccountLink {
  clientId: string;
  /** At the forge: names can be given to somebody else. */
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
  const expiresAt = Math.floor(Date.now() / 1000) + goodForSeconds;
  const challenge: Challenge = { clientId, userId, username, expiresAt };
  await create({ ...keys.linkCode(hashSecret(code)), ...challenge });
  return { code, expiresAt: new Date(expiresAt * 1000).toISOString() };
};

const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** Links the account; undefined for a code that is not good for it. May be repeated until the code is spent. */
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

/** The account was proved to be the user's. 3 writes. */
export const keepLink = async (
  clientId: string,
  account: { id: string; username: string },
  userId: string,
): Promise<AccountLink> => {
  const link: AccountLink = { clientId, accountId: account.id, username: account.username, userId, linkedAt: now() };
  await endLink(clientId, userId);
  await put({ ...keys.linkedAccount(clientId, account.id), ...link });
  await put({ ...keys.linkOfUser(clientId, userId), accountId: account.id });
  return link;
};

/** Last, so that a delivery that was cut off is done again. */
export const spendCode = async (code: string): Promise<void> => {
  await remove(keys.linkCode(hashSecret(code)));
};

/** Whose account it is. 1 read. */
export const linkOfAccount = (clientId: string, accountId: string): Promise<AccountLink | undefined> =>
  get<AccountLink>(keys.linkedAccount(clientId, accountId));

/** The user's own. 2 reads. */
export const linkOfUser = async (clientId: string, userId: string): Promise<AccountLink | undefined> => {
  const pointer = await get<{ accountId: string }>(keys.linkOfUser(clientId, userId));
  const link = pointer && (await linkOfAccount(clientId, pointer.accountId));
  // Somebody else may have proved meanwhile that the account is theirs.
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

/** Of a connection that is deleted. */
export const endLinks = async (clientId: string): Promise<void> => {
  const { pk } = keys.oauthClient(clientId);
  for (const prefix of ['ACCOUNT#', 'LINKED#']) {
    for (const row of await queryAll<Key>({ pk, prefix })) await remove({ pk: row.pk, sk: row.sk });
  }
};
