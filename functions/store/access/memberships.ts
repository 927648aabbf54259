import { derivedId } from '../id.ts';
import { type Key, keys } from '../keys.ts';
import { batchGet, create, get, query, queryAll, remove, update } from '../table.ts';

/** What a membership makes of somebody. `organization` is what acts for the organization itself: its own token. */
export type Role = 'owner' | 'member' | 'organization';

/** Of a user, or of the account that a team's or an organization's token acts as (api/permissions/auth.ts), in an organization. */
export interface Membership {
  userId: string;
  organization: string;
  /** Those who are in the owners team are owners; kept here, so that one read tells. */
  roles: Role[];
  /** Ids of the teams the user is in. */
  teams?: Set<string>;
  createdAt: string;
}

/** `ou-…`, as the API knows it by. */
export const membershipId = ({ organization, userId }: Pick<Membership, 'organization' | 'userId'>): string =>
  derivedId('ou', `${organization} ${userId}`);

/** 1 read. */
export const getMembership = (userId: string, organization: string): Promise<Membership | undefined> =>
  get<Membership>(keys.membership(userId, organization));

/** 2 reads. */
export const findMembership = async (id: string): Promise<Membership | undefined> => {
  const pointer = await get<{ userId: string; organization: string }>(keys.membershipId(id));
  return pointer && getMembership(pointer.userId, pointer.organization);
};

/** Those of a user, at most 100. */
export const membershipsOf = (userId: string): Promise<Membership[]> =>
  query<Membership>({ pk: keys.user(userId).pk, prefix: 'ORG#', limit: 100 });

/** All of the organization's people, in the order of their ids. 1 read for 100. */
export const membershipsIn = async (organization: string): Promise<Membership[]> => {
  const { pk } = keys.organization(organization);
  const ids = (await queryAll<{ userId: string }>({ pk, prefix: 'MEMBER#' })).map(({ userId }) => userId);
  return getMemberships(organization, ids);
};

/** In the order of the ids; those who are no members are left out. */
export const getMemberships = async (organization: string, userIds: string[]): Promise<Membership[]> => {
  const found: Membership[] = [];
  for (let i = 0; i < userIds.length; i += 100) {
    const some = userIds.slice(i, i + 100).map((id) => keys.membership(id, organization));
    found.push(...(await batchGet<Membership & Key>(some)));
  }
  return found;
};

export const roleOf = ({ roles }: Pick<Membership, 'roles'>): Role =>
  (['owner', 'organization'] as const).find((role) => roles.includes(role)) ?? 'member';

/** 3 writes; may be repeated. Changes nothing for who is a member already. */
export const addMember = async (organization: string, userId: string, role: Role = 'member'): Promise<void> => {
  const membership: Membership = { userId, organization, roles: [role], createdAt: new Date().toISOString() };
  await indexMember(membership);
  await create({ ...keys.membership(userId, organization), ...membership });
};

/** What lists and ids lead to the membership by. */
export const indexMember = async ({ organization, userId }: Membership): Promise<void> => {
  await create({ ...keys.member(organization, userId), userId });
  await create({ ...keys.membershipId(membershipId({ organization, userId })), organization, userId });
};

interface OfTeam {
  organization: string;
  id: string;
  owners?: boolean;
}

/** Effective at once. Undefined when the user is no member. */
export const joinTeam = (team: OfTeam, userId: string): Promise<Membership | undefined> =>
  update<Membership>(keys.membership(userId, team.organization), {
    add: { teams: new Set([team.id]) },
    set: team.owners ? { roles: ['owner'] } : {},
    condition: 'attribute_exists(pk)',
  });

/** Effective at once. Undefined when the user is no member. */
export const leaveTeam = (team: OfTeam, userId: string): Promise<Membership | undefined> =>
  update<Membership>(keys.membership(userId, team.organization), {
    delete: { teams: new Set([team.id]) },
    set: team.owners ? { roles: ['member'] } : {},
    condition: 'attribute_exists(pk)',
  });

/** Effective at once; the caller sees to the teams. */
export const removeMember = async ({ organization, userId }: Membership): Promise<void> => {
  await remove(keys.membership(userId, organization));
  await remove(keys.member(organization, userId));
  await remove(keys.membershipId(membershipId({ organization, userId })));
};

/** Ids of the users who belong to it, at most 100. */
export const listMembers = async (organization: string): Promise<string[]> => {
  const { pk } = keys.organization(organization);
  return (await query<{ userId: string }>({ pk, prefix: 'MEMBER#', limit: 100 })).map(({ userId }) => userId);
};
