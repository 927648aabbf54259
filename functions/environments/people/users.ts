import { nameOf } from '#api/naming.ts';
import type { Principal } from '#api/permissions/principal.ts';
import { foldCase } from '#platform/store/fold-case.ts';
import { listOrganizations, type Organization } from '#resources/organizations/records.ts';
import { membershipsIn, membershipsOf, roleOf } from '#resources/users/memberships.ts';
import type { User } from '#resources/users/user.ts';
import { holderOfUsername } from '#resources/users/usernames.ts';
import { getUser, getUsers } from '#resources/users/users.ts';
import type { Call } from '../host/route.ts';
import { isUuid, uuidOf } from '../host/uuid.ts';

/** Users and organizations in Coder's API, with UUIDs derived from our ids. */

/** Organizations that admit the caller from the request's address. No further read without IP allowlists. */
export const organizationsOf = async (principal: Principal): Promise<Organization[]> => {
  const all = await listOrganizations(principal.userId);
  const refused = await Promise.all(
    all.map(
      async ({ name, ipAllowlists }) =>
        ipAllowlists !== undefined && (await principal.standing(name)).refuses === 'address',
    ),
  );
  return all.filter((_, i) => !refused[i]);
};

/**
 * Finds an organization by UUID, by name, or the caller's first as `default`. Undefined when the caller is not a
 * member.
 */
export const findOrganization = async (call: Call, named: string): Promise<Organization | undefined> => {
  const all = await organizationsOf(call.principal);
  const text = foldCase(named);
  return (
    all.find(({ name }) => uuidOf(name) === text) ??
    // Names are compared last, because a name can look like another organization's id.
    all.find(({ name }) => foldCase(nameOf(name)) === text) ??
    (text === 'default' ? all[0] : undefined)
  );
};

/**
 * The caller, and the members of organizations whose members the caller may see. 1 read per organization, and 1 per
 * 100 users.
 */
const peopleAround = async (principal: Principal): Promise<User[]> => {
  const organizations: Organization[] = [];
  for (const organization of await organizationsOf(principal)) {
    if ((await principal.on({ organization: organization.name })).has('membership:read'))
      organizations.push(organization);
  }
  const memberships = await Promise.all(organizations.map(({ name }) => membershipsIn(name)));
  const ids = memberships.flat().flatMap(({ userId, invitation }) => (invitation ? [] : [userId]));
  return getUsers([...new Set([principal.userId, ...ids])]);
};

export const listPeople = peopleAround;

/** Finds a user by `me`, username or UUID. Undefined for a user outside the caller's organizations. */
export const findPerson = async ({ principal }: Call, named: string): Promise<User | undefined> => {
  if (named === 'me') return getUser(principal.userId);
  if (isUuid(named)) {
    if (uuidOf(principal.userId) === named.toLowerCase()) return getUser(principal.userId);
    return (await peopleAround(principal)).find(({ id }) => uuidOf(id) === named.toLowerCase());
  }
  const id = await holderOfUsername(named);
  if (id === undefined) return undefined;
  if (id !== principal.userId && !(await shareOrganization(principal.userId, id))) return undefined;
  return getUser(id);
};

const shareOrganization = async (a: string, b: string): Promise<boolean> => {
  const [ofA, ofB] = await Promise.all([membershipsOf(a), membershipsOf(b)]);
  const names = new Set(ofA.map(({ organization }) => organization));
  return ofB.some(({ organization }) => names.has(organization));
};

const owner = { name: 'owner', display_name: 'Owner', organization_id: '' };

/** Shows users' roles in the caller's organizations only. 1 read, and 1 per user. */
export const userDocuments = async (users: User[], callerId: string) => {
  const shared = new Set((await membershipsOf(callerId)).map(({ organization }) => organization));
  return Promise.all(users.map((user) => userDocument(user, shared)));
};

const userDocument = async (user: User, shared: Set<string>) => {
  const memberships = (await membershipsOf(user.id)).filter(({ organization }) => shared.has(organization));
  const isOwner = memberships.some((membership) => roleOf(membership) === 'owner');
  return {
    id: uuidOf(user.id),
    username: user.username,
    name: '',
    email: user.email,
    avatar_url: '',
    created_at: user.createdAt,
    updated_at: user.createdAt,
    last_seen_at: user.createdAt,
    status: 'active',
    login_type: 'token',
    theme_preference: '',
    organization_ids: memberships.map(({ organization }) => uuidOf(organization)),
    roles: isOwner ? [owner] : [],
  };
};

/** The creator, inside another document. */
export const minimalUser = (id: string, username: string) => ({ id: uuidOf(id), username, avatar_url: '' });

export const organizationDocument = ({ name, createdAt }: Organization, isDefault: boolean) => ({
  id: uuidOf(name),
  name: nameOf(name),
  display_name: nameOf(name),
  description: '',
  icon: '',
  created_at: createdAt,
  updated_at: createdAt,
  is_default: isDefault,
});
