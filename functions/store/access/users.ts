import { newId } from '../id.ts';
import { type Key, keys } from '../keys.ts';
import { batchGet, create, get, update } from '../table.ts';

export interface User {
  id: string;
  username: string;
  email: string;
  createdAt: string;
}

type Described = Pick<User, 'username' | 'email'>;

export const createUser = (described: Described): Promise<User> => ensureUser(newId('user'), described);

/** Creates it unless it is there. */
export const ensureUser = async (id: string, { username, email }: Described): Promise<User> => {
  const user: User = { id, username, email, createdAt: new Date().toISOString() };
  if (await create({ ...keys.user(id), ...user })) return user;
  return (await getUser(id)) ?? user;
};

export const getUser = (id: string): Promise<User | undefined> => get<User>(keys.user(id));

/** In the order of the ids, at most 100; missing ones are left out. */
export const getUsers = (ids: string[]): Promise<User[]> => batchGet<User & Key>(ids.slice(0, 100).map(keys.user));

export const updateUser = (id: string, change: Partial<Pick<User, 'username' | 'email'>>): Promise<User | undefined> =>
  update<User>(keys.user(id), { set: change, condition: 'attribute_exists(pk)' });
