import { many, one } from '#api/answer.ts';
import { type Membership, membershipId } from './memberships.ts';
import type { User } from './user.ts';

/** Older invitations are recorded with the user, newer ones with the membership. */
export const membershipStatus = (
  { invitation }: Pick<Membership, 'invitation'>,
  user: User | undefined,
): 'active' | 'invited' => (invitation || user?.invitedAt ? 'invited' : 'active');

/** Before the invitation is accepted, shows only the address that the inviter entered. */
export const membershipEmail = ({ invitation }: Pick<Membership, 'invitation'>, user: User | undefined) =>
  invitation?.email ?? user?.email ?? null;

/** @param teamIds teams that the caller may see */
export const membershipDocument = (membership: Membership, user: User | undefined, teamIds: string[]) => ({
  id: membershipId(membership),
  type: 'organization-memberships',
  attributes: {
    status: membershipStatus(membership, user),
    email: membershipEmail(membership, user),
    'created-at': membership.createdAt,
    'is-org-two-factor-required': false,
  },
  relationships: {
    teams: many('teams', teamIds),
    user: one('users', membership.userId),
    organization: one('organizations', membership.organization),
    'scim-identity': one('scim-identities', membership.scim?.id),
  },
  links: { self: `/api/v2/organization-memberships/${membershipId(membership)}` },
});

/** Included with memberships; undefined without a directory. */
export const scimIdentityDocuments = ({ scim }: Membership) =>
  scim ? [{ id: scim.id, type: 'scim-identities', attributes: { status: scim.status } }] : [];
