import type { Run } from '../run/run.ts';
import type { Role } from '../store/access/organizations.ts';
import type { Answer } from './answer.ts';
import {
  authenticate,
  authenticateOpenTask,
  authenticateRun,
  isOfRun,
  isOfTask,
  type Principal,
  rolesOfRun,
  rolesOfTask,
  type Shared,
} from './auth.ts';
import { forbidden, notFound } from './errors.ts';
import { can, type Permission, seeing } from './permissions.ts';
import type { ApiRequest } from './request.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** What a route acts on; the organization it is in decides who may. */
export interface Subject {
  organization: string;
}

/** How a route finds its subject. */
export interface Finder<S extends Subject> {
  /** For messages: `workspace`. */
  what: string;
  find(request: ApiRequest): Promise<S | undefined>;
  /** What of it Terraform in a run may be shown. Without this, a route does not know of runs' tokens. */
  shared?(subject: S): Promise<Shared | undefined>;
  /** Whether a run task that the run asks may look at it. Without this, a route does not know of their tokens. */
  ofTask?(subject: S, asking: Run): boolean;
}

export interface Call {
  request: ApiRequest;
  principal: Principal;
}

export interface Context<S extends Subject> extends Call {
  subject: S;
  roles: readonly Role[];
}

/** `anyone` needs no token; `any user` a valid one. */
export type Access = Permission | 'any user' | 'anyone';

export interface Route {
  method: Method;
  path: `/${string}`;
  access: Access;
  /** Of a body, in bytes, where it is not what limits.ts says. */
  maxBytes?: number;
  answer(request: ApiRequest): Promise<Answer>;
}

/** Whether they may, is a matter of the subject's organization: 404 for who may not see it, 403 for who may not act. */
const allow = (roles: readonly Role[], permission: Permission, what: string): void => {
  if (can(roles, permission)) return;
  if (!can(roles, seeing(permission))) throw missing(what);
  throw forbidden(`You may see this ${what}, but not do that with it: it needs the permission ${permission}.`);
};

const missing = (what: string) => notFound(`There is no such ${what}, or you may not see it.`);

/** A route on a subject: the subject is looked up while the token is checked. */
export const route = <S extends Subject>(
  method: Method,
  path: `/${string}`,
  permission: Permission,
  { what, find, shared, ofTask }: Finder<S>,
  handle: (context: Context<S>) => Promise<Answer>,
): Route => ({
  method,
  path,
  access: permission,
  answer: async (request) => {
    const finding = find(request);
    // Whatever it throws is for callers with a valid token only.
    finding.catch(() => {});
    const caller = shared && isOfRun(request) ? await authenticateRun(request) : undefined;
    const task = ofTask && isOfTask(request) ? await authenticateOpenTask(request) : undefined;
    const principal = caller?.principal ?? task?.principal ?? (await authenticate(request));
    // Where the path names the organization, its members are asked for while the subject is still looked for.
    const { organization } = request.params;
    if (organization) principal.rolesIn(organization).catch(() => {});
    const subject = await finding;
    if (!subject) throw missing(what);
    const roles = caller
      ? await rolesOfRun(caller.run, await shared?.(subject))
      : task
        ? rolesOfTask(ofTask?.(subject, task.run))
        : await principal.rolesIn(subject.organization);
    allow(roles, permission, what);
    return handle({ request, principal, subject, roles });
  },
});

/** A route that is about the caller, or about nothing in particular. */
export const userRoute = (
  method: Method,
  path: `/${string}`,
  access: 'any user',
  handle: (call: Call) => Promise<Answer>,
): Route => ({
  method,
  path,
  access,
  answer: async (request) => handle({ request, principal: await authenticate(request) }),
});

/** By full path: clients learn the prefix from discovery. */
export const versioned = (routes: Route[]): Route[] =>
  routes.map((route) => ({ ...route, path: `/api/v2${route.path}` }));

export const openRoute = (
  method: Method,
  path: `/${string}`,
  access: 'anyone',
  answer: (request: ApiRequest) => Promise<Answer>,
): Route => ({ method, path, access, answer });
