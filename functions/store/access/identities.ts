import { hashSecret, newId } from '../id.ts';
import { keys } from '../keys.ts';
import { create, get } from '../table.ts';

/** Who is who at an issuer (OpenID Connect): its subject identifier there, and the user here. */

export interface Identity {
  issuer: string;
  subject: string;
}

interface Item extends Identity {
  userId: string;
  createdAt: string;
}

const keyOf = ({ issuer, subject }: Identity) => keys.identity(hashSecret(`${issuer}\n${subject}`));

/**
 * The id of the user who signs in so; for somebody new that of a user who is to be made.
 * @param userId who it is from now on, if it was nobody before
 */
export const claimIdentity = async ({ issuer, subject }: Identity, userId: string = newId('user')): Promise<string> => {
  const key = keyOf({ issuer, subject });
  const known = await get<Item>(key);
  if (known) return known.userId;
  if (await create({ ...key, issuer, subject, userId, createdAt: new Date().toISOString() })) return userId;
  return (await get<Item>(key))?.userId ?? userId;
};
