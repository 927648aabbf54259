import { foldCase } from '#platform/store/fold-case.ts';
import { keys } from '#platform/store/keys.ts';
import { create, get, update } from '#platform/store/table.ts';
import type { User } from './user.ts';

/**
 * Names of people, which policies judge by: an item of the name, in lower case, says whose it is. A name stays with its
 * user for good, so that nobody else is ever taken for them, and so a user may have a few only.
 */

/** Members are named by id or by username: a name in the form of an id is its bearer's only. */
const isAnotherId = (name: string, id: string): boolean => /^user-[A-Za-z0-9]{16}$/.test(name) && name !== id;

/** Most that one user has had. */
export const maxUsernames = 10;

/** What the accounts are called that tokens of teams and organizations act as (accounts.ts). */
export const isReserved = (name: string): boolean => /^(api-org|api-team|audit-trail)-/i.test(name);

interface Holder {
  userId: string;
}

/** Who has the name, or had it. */
export const holderOfUsername = async (name: string): Promise<string | undefined> =>
  (await get<Holder>(keys.username(name)))?.userId;

const claim = async (name: string, userId: string): Promise<boolean> =>
  (await create({ ...keys.username(name), userId })) || (await holderOfUsername(name)) === userId;

/** Makes room for the name among those of the user. */
const reserve = (userId: string, name: string): Promise<User | undefined> =>
  update<User>(keys.user(userId), {
    add: { usernames: new Set([name]) },
    condition:
      'attribute_exists(pk) AND (attribute_not_exists(usernames) OR size(usernames) < :most OR contains(usernames, :name))',
    values: { ':most': maxUsernames, ':name': name },
  });

const release = (userId: string, name: string): Promise<User | undefined> =>
  update<User>(keys.user(userId), {
    delete: { usernames: new Set([name]) },
    condition: 'attribute_exists(pk)',
  });

/** Names the user so. 2 or 3 writes; may be repeated. */
export const takeUsername = async (
  { id }: Pick<User, 'id'>,
  username: string,
): Promise<User | 'taken' | 'too many'> => {
  if (isReserved(username) || isAnotherId(username, id)) return 'taken';
  const name = foldCase(username);
  if (!(await reserve(id, name))) return 'too many';
  if (!(await claim(name, id))) {
    await release(id, name);
    return 'taken';
  }
  const named = await update<User>(keys.user(id), { set: { username: username }, condition: 'attribute_exists(pk)' });
  return named ?? 'taken';
};

/** Names the user so, or nearly so where somebody has that name. May be repeated. */
export const takeFreeUsername = async (user: User, username: string): Promise<User> => {
  const characters = user.id.slice(user.id.indexOf('-') + 1);
  const base = isReserved(username) ? 'user' : username;
  // The last one is as unique as the user's id.
  for (const name of [username, `${base.slice(0, 55)}-${characters.slice(-4)}`, `${base.slice(0, 43)}-${characters}`]) {
    const named = await takeUsername(user, name);
    if (typeof named === 'object') return named;
  }
  return user;
};

/**
 * A user from before names were unique gets theirs, or nearly that where somebody else was faster.
 * @param otherwise what to call somebody without a name
 */
export const settleUsername = async (user: User, otherwise: string = user.id): Promise<User> => {
  if (user.service || user.invitedAt || user.usernames?.has(foldCase(user.username))) return user;
  return takeFreeUsername(user, user.username || otherwise);
};
