import { derivedId, hashSecret, newId } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { batchGet, create, get, queryAll, remove } from '#platform/store/table.ts';
import { endSession } from './tokens.ts';

/**
 * Links OpenID Connect identities (issuer and subject) to users. A pointer to each identity lies beside its user; it
 * is written before the identity and removed after it, so a leftover pointer has no effect.
 */

export interface Identity {
  issuer: string;
  subject: string;
}

export interface LinkedIdentity extends Identity {
  userId: string;
  createdAt: string;
}

export const identityHash = ({ issuer, subject }: Identity): string => hashSecret(`${issuer}\n${subject}`);

export const identityId = (identity: Identity): string => derivedId('identity', identityHash(identity));

const point = (identity: Identity, userId: string) =>
  create({ ...keys.identityOfUser(userId, identityHash(identity)), userId });

/**
 * Returns the id of the user with this identity; a new identity gets `userId`.
 * @param userId the user to link if the identity is new
 */
export const claimIdentity = async ({ issuer, subject }: Identity, userId: string = newId('user')): Promise<string> => {
  const key = keys.identity(identityHash({ issuer, subject }));
  const before = await get<LinkedIdentity>(key);
  // Identities stored before pointers existed get one here.
  await point({ issuer, subject }, before?.userId ?? userId);
  if (before) return before.userId;
  if (await create({ ...key, issuer, subject, userId, createdAt: new Date().toISOString() })) return userId;
  return (await get<LinkedIdentity>(key))?.userId ?? userId;
};

interface Pointer extends Key {
  userId: string;
}

const prefix = 'IDENTITY#';

/** Identities that sign in as the user, oldest first. */
export const identitiesOf = async (userId: string): Promise<LinkedIdentity[]> => {
  const pointers = await queryAll<Pointer>({ pk: keys.user(userId).pk, prefix });
  const identities = await batchGet<LinkedIdentity & Key>(
    pointers.map(({ sk }) => keys.identity(sk.slice(prefix.length))),
  );
  return identities
    .filter((identity) => identity.userId === userId)
    .sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
};

/**
 * Unlinks the identity and ends its sessions at once. Can be repeated. False when the identity does not belong to the
 * user.
 */
export const forgetIdentity = async (identity: Identity, userId: string): Promise<boolean> => {
  const hash = identityHash(identity);
  const { pk } = keys.identity(hash);
  const removed = await remove(keys.identity(hash), {
    condition: 'userId = :user',
    values: { ':user': userId },
  });
  if (!removed) return false;
  await endSessionsIn(pk);
  await remove(keys.identityOfUser(userId, hash));
  return true;
};

/** Ends the sessions that a partition points to. @returns their number */
const endSessionsIn = async (pk: string): Promise<number> => {
  const sessions = await queryAll<Key>({ pk, prefix: 'SESSION#' });
  for (const { sk } of sessions) {
    await endSession(sk.slice('SESSION#'.length));
    await remove({ pk, sk });
  }
  return sessions.length;
};

/** Ends all sessions of the user at once. Can be repeated. @returns their number */
export const endSessionsOf = async (userId: string): Promise<number> => {
  const identities = await identitiesOf(userId);
  const partitions = [keys.user(userId), ...identities.map((identity) => keys.identity(identityHash(identity)))];
  let ended = 0;
  for (const { pk } of partitions) ended += await endSessionsIn(pk);
  return ended;
};
