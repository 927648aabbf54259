import type { Run } from '../run/run.ts';
import { keys } from '../store/keys.ts';
import { countingReads, get, readCount } from '../store/table.ts';
import type { Answer } from './answer.ts';
import { auditActionOf, isAudited } from './audit-action.ts';
import type { Authority, SharedSubject } from './authority.ts';
import { addressRefused, forbidden, notFound, tokenRefused } from './errors.ts';
import { type Granted, ofTask as grantedToTask, noPermissions } from './permissions/granted.ts';
import type { Scope } from './permissions/grants.ts';
import type { Permission } from './permissions/permissions.ts';
import type { Principal } from './permissions/principal.ts';
import { checkParameters, type QueryParameters } from './query-parameters.ts';
import type { ApiRequest } from './request.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** What a route acts on. Its organization determines the caller's permissions. */
export interface Subject {
  organization: string;
}

/** How a route finds its subject. */
export interface Finder<S extends Subject> {
  /** For messages: `workspace`. */
  what: string;
  /** The path parameter with its id or name, for messages. */
  parameter?: string;
  find(request: ApiRequest): Promise<S | undefined>;
  /** The permission to see it; callers without it get 404. */
  visibleWith: Permission | ((subject: S) => Permission);
  /** For subjects of several kinds behind one route: the permission that this one needs in place of the route's. */
  needs?(subject: S, permission: Permission): Permission;
  /** Determines the caller's permissions on it. */
  scope(subject: S): Scope;
  /** Whether Terraform in a run may see it. Without this, the route does not accept runs' tokens. */
  shared?(subject: S): Promise<SharedSubject | undefined>;
  /** Whether a run task of the run may see it. Without this, the route does not accept run tasks' tokens. */
  ofTask?(subject: S, asking: Run): boolean;
}

export interface Call {
  request: ApiRequest;
  principal: Principal;
}

export interface Context<S extends Subject> extends Call {
  subject: S;
  /** What the caller may do with the subject. */
  granted: Granted;
}

/** `anyone` needs no token; `any user` a valid one. */
export type Access = Permission | 'any user' | 'anyone';

export interface Route {
  method: Method;
  path: `/${string}`;
  access: Access;
  /** Absent for routes about the caller, or about nothing in particular. */
  finder?: Pick<Finder<never>, 'what' | 'visibleWith'>;
  /** Checked before the handler runs. */
  query?: QueryParameters;
  /** Maximum size of a body, in bytes, if it differs from limits.ts. */
  maxBytes?: number;
  answer(request: ApiRequest, authority: Authority): Promise<Answer>;
}

/** Must not depend on whether the subject exists: hidden and missing subjects look the same to the caller. */
const missing = (noun: string, id = '') =>
  notFound(`${noun.charAt(0).toUpperCase()}${noun.slice(1)}${id && ` ${id}`} not found, or you don't have access.`);

/**
 * Maximum of reads to find out that a subject is missing or hidden: the token, two for the subject, then the membership,
 * teams, the workspace and its project.
 */
const maxReads = 7;

/** A hidden resource costs as many reads as a missing one, so that response times reveal nothing. */
const readToMaximum = async (): Promise<void> => {
  while (readCount() < maxReads) await get(keys.organization(''));
};

/** The audit trail of requests without an organization; written all the same, so that response times reveal nothing. */
const nowhere = '';

/** Members of the organization learn why they are refused. @throws {ApiError} 401 or 403 */
export const checkRefusal = async (
  principal: Pick<Principal, 'standing'>,
  organization: string,
  address: string | undefined,
): Promise<void> => {
  const { refuses } = await principal.standing(organization);
  if (refuses === 'user token') throw tokenRefused(organization);
  if (refuses === 'address') throw addressRefused(organization, address);
};

/** A route on a subject: the subject is looked up while the token is checked. */
export const route = <S extends Subject>(
  method: Method,
  path: `/${string}`,
  permission: Permission,
  finder: Finder<S>,
  handle: (context: Context<S>) => Promise<Answer>,
  query: QueryParameters = {},
): Route => {
  const { what, parameter, find, visibleWith, needs, scope, shared, ofTask } = finder;
  const auditAction = auditActionOf(method, path);
  const answer = async (request: ApiRequest, authority: Authority): Promise<Answer> => {
    const finding = find(request);
    // Errors of the lookup are only for callers with a valid token.
    finding.catch(() => {});
    const caller = shared && authority.isOfRun(request) ? await authority.authenticateRun(request) : undefined;
    const taskRun = ofTask && authority.isOfTask(request) ? await authority.authenticateOpenTask(request) : undefined;
    const principal = caller?.principal ?? taskRun?.principal ?? (await authority.authenticate(request));
    // If the path names the organization, its membership is read while the subject is being found.
    const { organization } = request.params;
    if (organization) principal.standing(organization).catch(() => {});
    const subject = await finding;
    const isAddress = auditAction.parameter === 'name' || auditAction.parameter === 'moduleProvider';
    const id = isAddress && subject && 'id' in subject ? String(subject.id) : undefined;
    const workspace = subject && scope(subject).workspace;
    const workspaceId = typeof workspace === 'object' ? workspace.id : workspace;
    const auditContext = {
      request,
      principal,
      auditAction,
      organization: subject?.organization ?? nowhere,
      id,
      workspaceId,
    };
    const refuse = async (): Promise<never> => {
      // Refused reads are not recorded, like reads of missing resources.
      await Promise.all([readToMaximum(), method === 'GET' ? undefined : authority.recordRefusal(auditContext)]);
      if (subject) await checkRefusal(principal, subject.organization, request.address);
      throw missing(what, request.params[parameter ?? '']);
    };
    if (!subject) return refuse();
    const granted = caller
      ? await authority.grantedToRun(caller.run, await shared?.(subject))
      : taskRun
        ? ofTask?.(subject, taskRun.run)
          ? grantedToTask
          : noPermissions
        : await principal.on(scope(subject));
    if (!granted.has(typeof visibleWith === 'function' ? visibleWith(subject) : visibleWith)) return refuse();
    const act = async () => {
      checkParameters(request.query, query);
      return handle({ request, principal, subject, granted });
    };
    const needed = needs?.(subject, permission) ?? permission;
    if (granted.has(needed)) return isAudited(method, path) ? authority.withAudit(auditContext, act) : act();
    await authority.recordRefusal(auditContext);
    throw forbidden(`You can see this ${what}, but this request needs the permission ${needed}.`);
  };
  return { method, path, access: permission, finder, query, answer: countingReads(answer) };
};

/** A route that is about the caller, or about nothing in particular. */
export const userRoute = (
  method: Method,
  path: `/${string}`,
  access: 'any user',
  handle: (call: Call) => Promise<Answer>,
  query: QueryParameters = {},
): Route => ({
  method,
  path,
  access,
  query,
  answer: async (request, authority) => {
    const principal = await authority.authenticate(request);
    const act = async () => {
      checkParameters(request.query, query);
      return handle({ request, principal });
    };
    return isAudited(method, path)
      ? authority.withAuditInAllOrganizations({ request, principal, auditAction: auditActionOf(method, path) }, act)
      : act();
  },
});

/** By full path: clients learn the prefix from discovery. */
export const versioned = (routes: Route[]): Route[] =>
  routes.map((route) => ({ ...route, path: `/api/v2${route.path}` }));

export const openRoute = (method: Method, path: `/${string}`, access: 'anyone', answer: Route['answer']): Route => ({
  method,
  path,
  access,
  answer,
});
