import type { OrganizationFlag } from '#api/permissions/organization-flags.ts';
import type { Edited } from '#platform/store/edits.ts';

export interface Team extends Edited {
  id: string;
  organization: string;
  name: string;
  /** Secret ones are seen by their members only, and by those who may see all. */
  visibility: 'secret' | 'organization';
  organizationAccess: OrganizationFlag[];
  /** What a sign-in by OpenID Connect calls the group whose members are in the team. */
  ssoTeamId: string | null;
  allowMemberTokenManagement: boolean;
  createdAt: string;
  /** It is being deleted. */
  deletedAt?: string;
  /** The one whose members may do everything; every organization has it, and it stays. */
  owners?: true;
  /** Ids of its notification configurations. */
  notifications?: Set<string>;
}
