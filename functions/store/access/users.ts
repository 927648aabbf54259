import { newId } from '../id.ts';
import { type Key, keys } from '../keys.ts';
import { batchGet, create, get, update } from '../table.ts';

export interface User {
  id: string;
  username: string;
  email: string;
  createdAt: string;
  /** Was invited and has not signed in yet (invitations.ts). */
  invitedAt?: string;
  /** Nobody: the account that tokens of a team or an organization act as (accounts.ts). */
  service?: { organization: string; teamId?: string };
}

type Described = Pick<User, 'username' | 'email'>;

/** Of somebody whose address the operator vouches for. */
export const createUser = async (described: Described): Promise<User> => {
  const user = await ensureUser(newId('user'), described);
  await create({ ...keys.email(user.email), userId: user.id });
  return user;
};

/** Creates it unless it is there. */
export const ensureUser = async (
  id: string,
  described: Described & Pick<User, 'invitedAt' | 'service'>,
): Promise<User> => {
  const user: User = { ...described, id, createdAt: new Date().toISOString() };
  if (await create({ ...keys.user(id), ...user })) return user;
  return (await getUser(id)) ?? user;
};

export const getUser = (id: string): Promise<User | undefined> => get<User>(keys.user(id));

/** In the order of the ids, at most 100; missing ones are left out. */
export const getUsers = (ids: string[]): Promise<User[]> => batchGet<User & Key>(ids.slice(0, 100).map(keys.user));

export const updateUser = (id: string, change: Partial<Pick<User, 'username' | 'email'>>): Promise<User | undefined> =>
  update<User>(keys.user(id), { set: change, condition: 'attribute_exists(pk)' });
