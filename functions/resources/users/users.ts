import { setOrRemove } from '#platform/store/edits.ts';
import { foldCase } from '#platform/store/fold-case.ts';
import { newId } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { batchGet, create, get, update, updateExisting } from '#platform/store/table.ts';
import type { User } from './user.ts';
import { takeFreeUsername } from './usernames.ts';

type Described = Pick<User, 'username' | 'email'>;

/** A user whose address the operator verified. Gets a similar name when the name is taken. */
export const createUser = async (described: Described): Promise<User> => {
  const user = await createNamed(newId('user'), described);
  await create({ ...keys.email(user.email), userId: user.id });
  return user;
};

/** Creates a person with this or a similar name. Can be repeated. */
export const createNamed = async (id: string, { username, email }: Described): Promise<User> =>
  takeFreeUsername(await ensureUser(id, { username: '', email }), username);

/** Creates the user unless it exists. */
export const ensureUser = async (
  id: string,
  described: Described & Pick<User, 'invitedAt' | 'service'>,
): Promise<User> => {
  const user: User = { ...described, id, createdAt: new Date().toISOString() };
  if (await create({ ...keys.user(id), ...user })) return user;
  return (await getUser(id)) ?? user;
};

export const getUser = (id: string): Promise<User | undefined> => get<User>(keys.user(id));

/** Ordered by id; missing users are left out. 1 read per 100. */
export const getUsers = (ids: string[]): Promise<User[]> => batchGet<User & Key>(ids.map(keys.user));

/** Makes the address the user's. A different address that the user entered stays unconfirmed. */
export const confirmEmail = async (
  { id, unconfirmedEmail }: Pick<User, 'id' | 'unconfirmedEmail'>,
  email: string,
): Promise<User | undefined> => {
  const isEntered = unconfirmedEmail !== undefined && foldCase(unconfirmedEmail) === foldCase(email);
  return updateExisting<User>(keys.user(id), { set: { email }, remove: isEntered ? ['unconfirmedEmail'] : [] });
};

/** Stores an address that the user entered; it counts once the issuer verifies it. */
export const enterEmail = (id: string, unconfirmedEmail: string): Promise<User | undefined> =>
  updateExisting<User>(keys.user(id), { set: { unconfirmedEmail } });

/** Removes the user's address after it was verified for another user. */
export const loseEmail = async ({ id, email }: Pick<User, 'id' | 'email'>): Promise<void> => {
  await update<User>(keys.user(id), {
    set: { email: '' },
    condition: 'email = :lost AND attribute_not_exists(invitedAt)',
    values: { ':lost': email },
  });
};

/** @param until undefined ends it */
export const setSiteAdmin = async (id: string, until: string | undefined): Promise<void> => {
  await updateExisting<User>(keys.user(id), setOrRemove({ siteAdminUntil: until }));
};
