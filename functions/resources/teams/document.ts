import { many, one } from '#api/answer.ts';
import type { Granted } from '#api/permissions/granted.ts';
import { organizationFlags } from '#api/permissions/organization-flags.ts';
import { teamPermissions } from '#api/permissions/reported-permissions.ts';
import { membershipId } from '#resources/users/memberships.ts';
import type { Team } from './team.ts';

/** HCP API: teams. */
export const teamDocument = (team: Team, granted: Granted, userIds: string[]) => ({
  id: team.id,
  type: 'teams',
  attributes: {
    name: team.name,
    description: null,
    'users-count': userIds.length,
    'non-service-users-count': userIds.length,
    'sso-team-id': team.ssoTeamId,
    'scim-linked': team.scim !== undefined,
    'scim-group-name': team.scim?.displayName ?? null,
    'scim-updated-at': team.scim?.updatedAt ?? null,
    'scim-sync-paused': false,
    visibility: team.visibility,
    'allow-member-token-management': team.allowMemberTokenManagement,
    'is-unified': false,
    'organization-access': Object.fromEntries(
      organizationFlags.map((flag) => [flag, team.owners || team.organizationAccess.includes(flag)]),
    ),
    permissions: teamPermissions(granted, team),
  },
  relationships: {
    organization: one('organizations', team.organization),
    users: many('users', userIds),
    'organization-memberships': many(
      'organization-memberships',
      userIds.map((userId) => membershipId({ organization: team.organization, userId })),
    ),
    'authentication-token': { links: { related: `/api/v2/teams/${team.id}/authentication-token` } },
    'authentication-tokens': { links: { related: `/api/v2/teams/${team.id}/authentication-tokens` } },
  },
  links: { self: `/api/v2/teams/${team.id}` },
});
