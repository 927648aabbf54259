import type { Grants } from '#api/permissions/grants.ts';
import type { Principal } from '#api/permissions/principal.ts';

/** The caller's rights on templates and environments, derived from their permissions on the project. */

export interface Home {
  organization: string;
  projectId: string;
}

export interface Rights {
  /** Sees templates. */
  read: boolean;
  /** Creates environments of their own. */
  create: boolean;
  /** Sees and changes environments of others. */
  others: boolean;
  /** Changes templates, and reads and replaces states. */
  manage: boolean;
}

export const rightsIn = async (principal: Pick<Grants, 'on'>, { organization, projectId }: Home): Promise<Rights> => {
  const granted = await principal.on({ organization, project: projectId });
  const read = granted.has('project:read');
  return {
    read,
    create: read && granted.has('run:plan'),
    others: read && granted.has('run:apply'),
    manage: read && granted.has('project:update'),
  };
};

/** Owners of the organization. */
export const isOwner = async (principal: Principal, organization: string): Promise<boolean> =>
  (await principal.standing(organization)).role === 'owner';
