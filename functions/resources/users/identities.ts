import { derivedId, hashSecret, newId } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { batchGet, create, get, queryAll, remove } from '#platform/store/table.ts';
import { endSession } from './tokens.ts';

/**
 * Who is who at an issuer (OpenID Connect): its subject identifier there, and the user here. Beside the user lies a pointer
 * to each, written before it and removed after it, so one that was left behind says nothing.
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

/** As the API knows it by. */
export const identityId = (identity: Identity): string => derivedId('identity', identityHash(identity));

const point = (identity: Identity, userId: string) =>
  create({ ...keys.identityOfUser(userId, identityHash(identity)), userId });

/**
 * The id of the user who signs in so; for somebody new that of a user who is to be made.
 * @param userId who it is from now on, if it was nobody before
 */
export const claimIdentity = async ({ issuer, subject }: Identity, userId: string = newId('user')): Promise<string> => {
  const key = keys.identity(identityHash({ issuer, subject }));
  const before = await get<LinkedIdentity>(key);
  // One from before there were pointers gets its own.
  await point({ issuer, subject }, before?.userId ?? userId);
  if (before) return before.userId;
  if (await create({ ...key, issuer, subject, userId, createdAt: new Date().toISOString() })) return userId;
  return (await get<LinkedIdentity>(key))?.userId ?? userId;
};

interface Pointer extends Key {
  userId: string;
}

const prefix = 'IDENTITY#';

/** Those that sign in as the user, the oldest first. */
export const identitiesOf = async (userId: string): Promise<LinkedIdentity[]> => {
  const pointers = await queryAll<Pointer>({ pk: keys.user(userId).pk, prefix });
  const identities = await batchGet<LinkedIdentity & Key>(
    pointers.map(({ sk }) => keys.identity(sk.slice(prefix.length))),
  );
  return identities
    .filter((identity) => identity.userId === userId)
    .sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
};

/** Nobody signs in so any more, and the sessions that began so end at once. May be repeated. False when it is not the user's. */
export const forgetIdentity = async (identity: Identity, userId: string): Promise<boolean> => {
  const hash = identityHash(identity);
  const { pk } = keys.identity(hash);
  const removed = await remove(keys.identity(hash), {
    condition: 'userId = :user',
    values: { ':user': userId },
  });
  if (!removed) return false;
  const sessions = await queryAll<Key>({ pk, prefix: 'SESSION#' });
  for (const { sk } of sessions) {
    await endSession(sk.slice('SESSION#'.length));
    await remove({ pk, sk });
  }
  await remove(keys.identityOfUser(userId, hash));
  return true;
};
