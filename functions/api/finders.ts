import type { Scope } from './permissions/grants.ts';
import type { ApiRequest } from './request.ts';
import type { Subject } from './route.ts';

/** How routes find what they act on, by the parameters of their paths. */

export const param = ({ params }: ApiRequest, name: string): string => params[name] ?? '';

/** The organization decides. */
export const inOrganization = ({ organization }: Subject): Scope => ({ organization });
/** What belongs to a workspace is seen with it. */
export const inWorkspace = {
  visibleWith: 'workspace:read',
  scope: ({ organization, workspaceId }: Subject & { workspaceId: string }): Scope => ({
    organization,
    workspace: workspaceId,
  }),
} as const;
