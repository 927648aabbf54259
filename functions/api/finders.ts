import type { Scope } from './permissions/grants.ts';
import type { ApiRequest } from './request.ts';
import type { Subject } from './route.ts';

/** Finders of the subjects of routes, by path parameters. */

export const param = ({ params }: ApiRequest, name: string): string => params[name] ?? '';

/** Permissions on the organization apply. */
export const inOrganization = ({ organization }: Subject): Scope => ({ organization });
/** A resource of a workspace is visible together with the workspace. */
export const inWorkspace = {
  visibleWith: 'workspace:read',
  scope: ({ organization, workspaceId }: Subject & { workspaceId: string }): Scope => ({
    organization,
    workspace: workspaceId,
  }),
} as const;
