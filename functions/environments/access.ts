import type { Grants } from '../api/permissions/grants.ts';
import type { Principal } from '../api/permissions/principal.ts';

/** What somebody may do with templates and environments, from what they may do in the project that these are in. */

export interface Home {
  organization: string;
  projectId: string;
}

export interface Rights {
  /** Sees templates. */
  read: boolean;
  /** Makes environments for themselves. */
  create: boolean;
  /** Sees and changes those of others. */
  others: boolean;
  /** Changes templates, and what states are. */
  manage: boolean;
}

/** The project is the organization's default one, for which the organization's own flags count too. */
export const rightsIn = async (principal: Pick<Grants, 'on'>, { organization, projectId }: Home): Promise<Rights> => {
  const granted = await principal.on({ organization, project: projectId, isDefaultProject: true });
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
