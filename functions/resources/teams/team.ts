import type { OrganizationFlag } from '#api/permissions/organization-flags.ts';
import type { Edited } from '#platform/store/edits.ts';

export interface Team extends Edited {
  id: string;
  organization: string;
  name: string;
  /** Only its members and users with `team:read-secret` see a secret team. */
  visibility: 'secret' | 'organization';
  organizationAccess: OrganizationFlag[];
  /** Name of the OpenID Connect group whose members are in the team. */
  ssoTeamId: string | null;
  allowMemberTokenManagement: boolean;
  createdAt: string;
  /** Set while the team is being deleted. */
  deletedAt?: string;
  /**
   * True for the owners team, whose members have every permission. Every organization has one, and it cannot be
   * deleted.
   */
  owners?: true;
  /** The directory's group that decides its members (resources/scim/groups/). */
  scim?: TeamGroup;
  /** Ids of its notification configurations. */
  notifications?: Set<string>;
}

export interface TeamGroup {
  configurationId: string;
  displayName: string;
  externalId?: string;
  /** The team existed before, with the group's name or id as its `sso-team-id`; it outlives the group. */
  linked?: true;
  createdAt: string;
  updatedAt: string;
}
