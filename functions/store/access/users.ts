import { newId } from '../id.ts';
import { type Key, keys } from '../keys.ts';
import { batchGet, create, get, update } from '../table.ts';

export interface User {
  id: string;
  username: string;
  email: string;
  createdAt: string;
}

export const createUser = async ({ username, email }: Pick<User, 'username' | 'email'>): Promise<User> => {
  const user: User = { id: newId('user'), username, email, createdAt: new Date().toISOString() };
  await create({ ...keys.user(user.id), ...user });
  return user;
};

export const getUser = (id: string): Promise<User | undefined> => get<User>(keys.user(id));

/** In the order of the ids, at most 100; missing ones are left out. */
export const getUsers = (ids: string[]): Promise<User[]> => batchGet<User & Key>(ids.slice(0, 100).map(keys.user));

export const updateUser = (id: string, change: Partial<Pick<User, 'username' | 'email'>>): Promise<User | undefined> =>
  update<User>(keys.user(id), { set: change, condition: 'attribute_exists(pk)' });
