import { foldCase } from '#platform/store/fold-case.ts';
import { keys } from '#platform/store/keys.ts';
import { create, get, updateExisting } from '#platform/store/table.ts';
import type { User } from './user.ts';

/**
 * Usernames, which policies can check. An item per name, in lower case, contains the user's id. A name that a user gave
 * up stays reserved, so that no other user is mistaken for them. That is why a user can have only a few names.
 */

/** Requests name members by id or username, so only its own user may take a name in the form of an id. */
const isAnotherId = (name: string, id: string): boolean => /^user-[A-Za-z0-9]{16}$/.test(name) && name !== id;

/** Maximum number of names that one user has had. */
export const maxUsernames = 10;

/** Names of the accounts that tokens act as which belong to no user (accounts.ts). */
export const isReserved = (name: string): boolean => /^(api-org|api-team|audit-trail|scim)-/i.test(name);

interface Holder {
  userId: string;
}

/** Id of the user who has or had the name. */
export const holderOfUsername = async (name: string): Promise<string | undefined> =>
  (await get<Holder>(keys.username(name)))?.userId;

const claim = async (name: string, userId: string): Promise<boolean> =>
  (await create({ ...keys.username(name), userId })) || (await holderOfUsername(name)) === userId;

/** Adds the name to the user's reserved names, within the limit. */
const reserve = (userId: string, name: string): Promise<User | undefined> =>
  updateExisting<User>(keys.user(userId), {
    add: { usernames: new Set([name]) },
    condition: 'attribute_not_exists(usernames) OR size(usernames) < :most OR contains(usernames, :name)',
    values: { ':most': maxUsernames, ':name': name },
  });

const release = (userId: string, name: string): Promise<User | undefined> =>
  updateExisting<User>(keys.user(userId), { delete: { usernames: new Set([name]) } });

/** Gives the user this name. 2 or 3 writes; can be repeated. */
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
  const named = await updateExisting<User>(keys.user(id), { set: { username: username } });
  return named ?? 'taken';
};

/** Gives the user this name, or a similar one when it is taken. Can be repeated. */
export const takeFreeUsername = async (user: User, username: string): Promise<User> => {
  const characters = user.id.slice(user.id.indexOf('-') + 1);
  const base = isReserved(username) ? 'user' : username;
  // The last name is as unique as the user's id.
  for (const name of [username, `${base.slice(0, 55)}-${characters.slice(-4)}`, `${base.slice(0, 43)}-${characters}`]) {
    const named = await takeUsername(user, name);
    if (typeof named === 'object') return named;
  }
  return user;
};

/** Names a user whose creation was interrupted. */
export const settleUsername = async (user: User, username: string): Promise<User> =>
  user.username === '' ? takeFreeUsername(user, username) : user;
