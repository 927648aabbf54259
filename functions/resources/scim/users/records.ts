import { setOrRemove } from '#platform/store/edits.ts';
import { foldCase } from '#platform/store/fold-case.ts';
import { hashSecret, newId } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { batchGet, create, get, put, queryAll, remove, updateExisting } from '#platform/store/table.ts';
import { nowAfter } from '#platform/store/time.ts';
import { claimName, createNamed, releaseName, type UniqueNames } from '#platform/store/unique-names.ts';
import type { ScimLink } from '#resources/users/memberships.ts';
import { taken } from '../protocol/errors.ts';
import { addressOf, type UserAttributes } from './attributes.ts';

/** A user whom the organization's directory manages: what it sent, and the account that the user signs in to. */
export interface ScimUser extends Omit<UserAttributes, 'active'> {
  /** `scimid-…`, the user's id for the directory. */
  id: string;
  configurationId: string;
  organization: string;
  /** The account; absent until the user is active for the first time. */
  userId?: string;
  status: ScimLink['status'];
  /** The user was a member without an open invitation when the directory ended the membership. */
  joined?: true;
  /** Ids of the teams of the user's groups; also while the user is not active. */
  groups?: Set<string>;
  createdAt: string;
  updatedAt: string;
}

export const getScimUser = (id: string): Promise<ScimUser | undefined> => get<ScimUser>(keys.scimUser(id));

/** In this order; missing ones are left out. 1 read per 100. */
export const getScimUsers = (ids: readonly string[]): Promise<ScimUser[]> =>
  batchGet<ScimUser & Key>(ids.map(keys.scimUser));

const userNames: UniqueNames<ScimUser> = {
  key: ({ configurationId, userName }) => keys.scimUserName(configurationId, userName),
  find: getScimUser,
};

const addresses: UniqueNames<ScimUser> = {
  key: (user) => keys.scimUserEmail(user.configurationId, addressOf(user)),
  find: getScimUser,
};

const nameTaken = ({ userName }: ScimUser) => taken(`A user with the userName ${userName} exists already.`);
const addressTaken = () => taken('Another user has this primary e-mail address.');

const externalIdKey = ({ configurationId, externalId, id }: ScimUser): Key | undefined =>
  externalId === undefined ? undefined : keys.scimExternalId(configurationId, 'USER', hashSecret(externalId), id);

/** @throws {ScimError} 409 */
export const createScimUser = async (
  home: { configurationId: string; organization: string },
  { active: _, ...attributes }: UserAttributes,
): Promise<ScimUser> => {
  const at = new Date().toISOString();
  const status = 'provisioned';
  const user: ScimUser = { ...attributes, ...home, id: newId('scimid'), status, createdAt: at, updatedAt: at };
  const named = await createNamed(userNames, user, async () => {
    const addressed = await createNamed(addresses, user, async () => {
      const pointer = externalIdKey(user);
      if (pointer) await put({ ...pointer, holder: user.id });
      await create({ ...keys.scimUser(user.id), ...user });
      return user;
    });
    if (!addressed) throw addressTaken();
    return addressed;
  });
  if (!named) throw nameTaken(user);
  return named;
};

const isSameKey = (a: Key | undefined, b: Key | undefined): boolean => a?.pk === b?.pk && a?.sk === b?.sk;

/**
 * Replaces the attributes. New names are claimed before the write, and former ones released after it, so that an
 * interrupted change can be repeated.
 * @throws {ScimError} 409
 * @returns undefined when the user is deleted
 */
export const replaceAttributes = async (
  user: ScimUser,
  { active: _, ...attributes }: UserAttributes,
): Promise<ScimUser | undefined> => {
  const { externalId: _e, displayName: _d, name: _n, ...rest } = user;
  const next: ScimUser = { ...rest, ...attributes };
  const renamed = foldCase(next.userName) !== foldCase(user.userName);
  const moved = foldCase(addressOf(next)) !== foldCase(addressOf(user));
  if (renamed && !(await claimName(userNames, next))) throw nameTaken(next);
  if (moved && !(await claimName(addresses, next))) {
    if (renamed) await releaseName(userNames, next);
    throw addressTaken();
  }
  const [before, after] = [externalIdKey(user), externalIdKey(next)];
  if (after && !isSameKey(before, after)) await put({ ...after, holder: user.id });
  const { externalId, displayName, name, userName, emails } = next;
  const values = { externalId, displayName, name, userName, emails, updatedAt: nowAfter(user.updatedAt) };
  const written = await updateExisting<ScimUser>(keys.scimUser(user.id), setOrRemove(values));
  const [kept, former] = written ? [next, user] : [user, next];
  if (renamed) await releaseName(userNames, former);
  if (moved) await releaseName(addresses, former);
  const unused = externalIdKey(former);
  if (unused && !isSameKey(unused, externalIdKey(kept))) await remove(unused);
  return written;
};

/** Changes what this platform keeps about the user. Undefined when the user is deleted. */
export const noteOf = (
  { id }: Pick<ScimUser, 'id'>,
  set: Partial<Pick<ScimUser, 'userId' | 'status' | 'joined'>>,
): Promise<ScimUser | undefined> => updateExisting<ScimUser>(keys.scimUser(id), { set });

/** Forgets the account. Undefined when the user is deleted. */
export const unlink = ({ id }: Pick<ScimUser, 'id'>): Promise<ScimUser | undefined> =>
  updateExisting<ScimUser>(keys.scimUser(id), { remove: ['userId', 'joined'] });

export const addGroup = (id: string, teamId: string): Promise<ScimUser | undefined> =>
  updateExisting<ScimUser>(keys.scimUser(id), { add: { groups: new Set([teamId]) } });

export const removeGroup = (id: string, teamId: string): Promise<ScimUser | undefined> =>
  updateExisting<ScimUser>(keys.scimUser(id), { delete: { groups: new Set([teamId]) } });

/** Can be repeated. */
export const deleteScimUser = async (user: ScimUser): Promise<void> => {
  await remove(keys.scimUser(user.id));
  const pointer = externalIdKey(user);
  if (pointer) await remove(pointer);
  await releaseName(addresses, user);
  await releaseName(userNames, user);
};

interface Pointer extends Key {
  holder: string;
}

/** Ids in the order of user names. */
export const listScimUserIds = async (configurationId: string): Promise<string[]> => {
  const { pk } = keys.scimUserName(configurationId, '');
  return (await queryAll<Pointer>({ pk, prefix: 'USERNAME#' })).map(({ holder }) => holder);
};

const holdersOf = async (...pointers: Key[]): Promise<string[]> =>
  (await batchGet<Pointer>(pointers)).map(({ holder }) => holder);

/** Ids of users that may have the value: the user's own attributes are authoritative. */
export const lookUp: Record<'userName' | 'emails' | 'externalId', (conf: string, value: string) => Promise<string[]>> =
  {
    userName: (configurationId, value) => holdersOf(keys.scimUserName(configurationId, value)),
    emails: (configurationId, value) => holdersOf(keys.scimUserEmail(configurationId, value)),
    externalId: async (configurationId, value) => {
      const { pk, sk } = keys.scimExternalId(configurationId, 'USER', hashSecret(value), '');
      return (await queryAll<Pointer>({ pk, prefix: sk })).map(({ holder }) => holder);
    },
  };
