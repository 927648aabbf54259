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
  /** Ids of its notification configurations. */
  notifications?: Set<string>;
}
