import { keys } from '../keys.ts';
import { create, get, query, update } from '../table.ts';

/** What a membership makes of somebody. `organization` is what acts for the organization itself: its own token. */
export type Role = 'owner' | 'member' | 'organization';

/** Of a user, or of the account that a team's or an organization's token acts as (auth.ts), in an organization. */
export interface Membership {
  userId: string;
  organization: string;
  /** Those who are in the owners team are owners; kept here, so that one read tells. */
  roles: Role[];
  /** Ids of the teams the user is in. */
  teams?: Set<string>;
  createdAt: string;
}

/** 1 read. */
export const getMembership = (userId: string, organization: string): Promise<Membership | undefined> =>
  get<Membership>(keys.membership(userId, organization));

export const roleOf = ({ roles }: Membership): Role =>
  (['owner', 'organization'] as const).find((role) => roles.includes(role)) ?? 'member';

export const addMember = async (organization: string, userId: string, role: Role): Promise<void> => {
  const membership: Membership = { userId, organization, roles: [role], createdAt: new Date().toISOString() };
  await create({ ...keys.member(organization, userId), userId });
  await create({ ...keys.membership(userId, organization), ...membership });
};

/** Effective at once. Undefined when the user is no member. */
export const joinTeam = (
  { organization, id }: { organization: string; id: string },
  userId: string,
): Promise<Membership | undefined> =>
  update<Membership>(keys.membership(userId, organization), {
    add: { teams: new Set([id]) },
    condition: 'attribute_exists(pk)',
  });

/** Ids of the users who belong to it, at most 100. */
export const listMembers = async (organization: string): Promise<string[]> => {
  const { pk } = keys.organization(organization);
  return (await query<{ userId: string }>({ pk, prefix: 'MEMBER#', limit: 100 })).map(({ userId }) => userId);
};
