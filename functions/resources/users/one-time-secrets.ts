import { hashSecret, newSecret } from '#platform/store/id.ts';
import { keys } from '#platform/store/keys.ts';
import { get, put, update } from '#platform/store/table.ts';

/**
 * Single-use secrets with which the first owner of an organization signs in; the operator hands them over. A user has
 * at most one; a newer one replaces it.
 */

interface Item {
  hash: string;
  goodUntil: string;
  usedAt?: string;
}

const goodForHours = 24;

const prefix = 'sfonce_';
const form = /^sfonce_([A-Za-z0-9]{16})\.[A-Za-z0-9_-]{43}$/;

export const createOneTimeSecret = async (userId: string): Promise<{ secret: string; goodUntil: string }> => {
  const secret = `${prefix}${userId.replace(/^user-/, '')}.${newSecret()}`;
  const goodUntil = new Date(Date.now() + goodForHours * 3_600_000).toISOString();
  await put({ ...keys.oneTimeSecret(userId), hash: hashSecret(secret), goodUntil });
  return { secret, goodUntil };
};

export type SecretUse = { userId: string } | { refused: 'unknown' | 'expired' } | { refused: 'used'; usedAt: string };

/** Of two concurrent uses, only one succeeds. */
export const useOneTimeSecret = async (secret: string): Promise<SecretUse> => {
  const [, characters] = form.exec(secret) ?? [];
  if (!characters) return { refused: 'unknown' };
  const userId = `user-${characters}`;
  const key = keys.oneTimeSecret(userId);
  const hash = hashSecret(secret);
  const usedAt = new Date().toISOString();
  const used = await update(key, {
    set: { usedAt },
    condition: 'hash = :hash AND goodUntil > :now AND attribute_not_exists(usedAt)',
    values: { ':hash': hash, ':now': usedAt },
  });
  if (used) return { userId };
  const item = await get<Item>(key);
  if (item?.hash !== hash) return { refused: 'unknown' };
  return item.usedAt ? { refused: 'used', usedAt: item.usedAt } : { refused: 'expired' };
};
