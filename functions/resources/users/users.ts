import { foldCase } from '#platform/store/fold-case.ts';
import { newId } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { batchGet, create, get, update } from '#platform/store/table.ts';
import type { User } from './user.ts';
import { takeFreeUsername } from './usernames.ts';

type Described = Pick<User, 'username' | 'email'>;

/** Of somebody whose address the operator vouches for. The name is another one where somebody has it. */
export const createUser = async (described: Described): Promise<User> => {
  const user = await createNamed(newId('user'), described);
  await create({ ...keys.email(user.email), userId: user.id });
  return user;
};

/** A person, called so or nearly so. May be repeated. */
export const createNamed = async (id: string, { username, email }: Described): Promise<User> =>
  takeFreeUsername(await ensureUser(id, { username: '', email }), username);

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

/** In the order of the ids; missing ones are left out. 1 read for 100. */
export const getUsers = (ids: string[]): Promise<User[]> => batchGet<User & Key>(ids.map(keys.user));

/** The address becomes the user's; one that was entered and differs stays unconfirmed. */
export const confirmEmail = async (
  { id, unconfirmedEmail }: Pick<User, 'id' | 'unconfirmedEmail'>,
  email: string,
): Promise<User | undefined> => {
  const isEntered = unconfirmedEmail !== undefined && foldCase(unconfirmedEmail) === foldCase(email);
  return update<User>(keys.user(id), {
    set: { email },
    remove: isEntered ? ['unconfirmedEmail'] : [],
    condition: 'attribute_exists(pk)',
  });
};

/** The user says that the address is theirs, which counts once the issuer says so too. */
export const enterEmail = (id: string, unconfirmedEmail: string): Promise<User | undefined> =>
  update<User>(keys.user(id), { set: { unconfirmedEmail }, condition: 'attribute_exists(pk)' });

/** The address turned out to be another user's by now. */
export const loseEmail = async ({ id, email }: Pick<User, 'id' | 'email'>): Promise<void> => {
  await update<User>(keys.user(id), {
    set: { email: '' },
    condition: 'email = :lost AND attribute_not_exists(invitedAt)',
    values: { ':lost': email },
  });
};
