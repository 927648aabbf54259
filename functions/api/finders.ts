import type { Scope } from './permissions/grants.ts';
import type { Permission } from './permissions/permissions.ts';
import type { ApiRequest } from './request.ts';
import type { Finder, Subject } from './route.ts';

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

interface ById<S extends Subject> {
  what: string;
  parameter: string;
  get(id: string): Promise<S | undefined>;
  visibleWith: Permission;
  scope?(subject: NoInfer<S>): Scope;
}

/** Finds a subject by its id in the path. Permissions on its organization apply, unless it has a `scope`. */
export const byId = <S extends Subject>({ get, parameter, scope = inOrganization, ...more }: ById<S>): Finder<S> => ({
  ...more,
  parameter,
  scope,
  find: (request) => get(param(request, parameter)),
});
