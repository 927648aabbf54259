import { type Membership, membershipId } from '../../store/access/memberships.ts';
import type { User } from '../../store/access/users.ts';
import { many, one, type Resource } from '../answer.ts';

export const membershipStatus = (user: User | undefined): 'active' | 'invited' =>
  user?.invitedAt ? 'invited' : 'active';

/** @param teamIds those that the caller may see */
export const membershipDocument = (membership: Membership, user: User | undefined, teamIds: string[]): Resource => ({
  id: membershipId(membership),
  type: 'organization-memberships',
  attributes: {
    status: membershipStatus(user),
    email: user?.email ?? null,
    'created-at': membership.createdAt,
    'is-org-two-factor-required': false,
  },
  relationships: {
    teams: many('teams', teamIds),
    user: one('users', membership.userId),
    organization: one('organizations', membership.organization),
  },
  links: { self: `/api/v2/organization-memberships/${membershipId(membership)}` },
});
