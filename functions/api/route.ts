import { keys } from '#platform/store/keys.ts';
import { countingReads, get, readCount } from '#platform/store/table.ts';
import type { Run } from '#run/run.ts';
import { type Answer, noContent } from './answer.ts';
import { auditActionOf, isAudited } from './audit-action.ts';
import type { Authority, Consumers, SharedSubject } from './authority.ts';
import {
  addressRefused,
  forbidden,
  notFound,
  olderToken,
  organizationRenamed,
  signInNeeded,
  ssoNeeded,
  tokenRefused,
  tooLongToken,
} from './errors.ts';
import { refuseIdempotencyKey } from './idempotency-key.ts';
import { formerName, type GivenNames, givenNames, nameOf, toKeys } from './naming.ts';
import { type Granted, ofTask as grantedToTask, noPermissions } from './permissions/granted.ts';
import type { Scope } from './permissions/grants.ts';
import type { Permission } from './permissions/permissions.ts';
import type { Principal } from './permissions/principal.ts';
import { checkParameters, type QueryParameters } from './query-parameters.ts';
import type { ApiRequest } from './request.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Subject of a route. Its organization determines the caller's permissions. */
export interface Subject {
  organization: string;
}

/** How a route finds its subject. */
export interface Finder<S extends Subject> {
  /** Noun for messages: `workspace`. */
  what: string;
  /** The path parameter with its id or name, for messages. */
  parameter?: string;
  find(request: ApiRequest): Promise<S | undefined>;
  /** The permission to see it; callers without it get 404. */
  visibleWith: Permission | ((subject: S) => Permission);
  /** For a route on subjects of several kinds: the permission required on this subject instead of the route's. */
  needs?(subject: S, permission: Permission): Permission;
  /** Determines the caller's permissions on it. */
  scope(subject: S): Scope;
  /** Organizations whose members may read it as well; determined only for callers without access of their own. */
  consumers?(subject: S): Promise<Consumers>;
  /** Whether Terraform in a run may see it. Without this function, the route rejects tokens of runs. */
  shared?(subject: S): Promise<SharedSubject | undefined>;
  /** Whether a run task of the run may see it. Without this function, the route rejects tokens of run tasks. */
  ofTask?(subject: S, asking: Run): boolean;
  /** The route recognizes a repeated request by its Idempotency-Key. */
  takesIdempotencyKey?: true;
}

export interface Call {
  request: ApiRequest;
  principal: Principal;
}

export interface Context<S extends Subject> extends Call {
  subject: S;
  /** The caller's permissions on the subject. */
  granted: Granted;
}

/** `anyone` needs no token; `any user` a valid one. */
export type Access = Permission | 'any user' | 'anyone';

export interface Route {
  method: Method;
  path: `/${string}`;
  access: Access;
  /** Absent for routes without a subject other than the caller. */
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

/** Audit trail for requests without an organization; written too, so that response times reveal nothing. */
const nowhere = '';

/** Tells members of the organization the reason of the rejection. @throws {ApiError} 401 or 403 */
export const checkRefusal = async (
  principal: Pick<Principal, 'standing'>,
  organization: string,
  address: string | undefined,
): Promise<void> => {
  const { refuses } = await principal.standing(organization);
  if (refuses === 'user token') throw tokenRefused(nameOf(organization));
  if (refuses === 'old sign-in') throw signInNeeded(nameOf(organization));
  if (refuses === 'no single sign-on') throw ssoNeeded(nameOf(organization));
  if (refuses === 'older token') throw olderToken(nameOf(organization));
  if (refuses === 'token lifetime') throw tooLongToken(nameOf(organization));
  if (refuses === 'address') throw addressRefused(nameOf(organization), address);
};

/** The caller, and their permissions on a subject. */
interface Caller<S> {
  principal: Principal;
  grantedOn(subject: S): Promise<Granted>;
}

type Identify = <S extends Subject>(request: ApiRequest, authority: Authority, finder: Finder<S>) => Promise<Caller<S>>;

const isVisible = <S extends Subject>(subject: S, granted: Granted, { visibleWith }: Finder<S>): boolean =>
  granted.has(typeof visibleWith === 'function' ? visibleWith(subject) : visibleWith);

const identifyUser: Identify = async (request, authority, finder) => {
  const principal = await authority.authenticate(request);
  return {
    principal,
    grantedOn: async (subject) => {
      const granted = await principal.on(finder.scope(subject));
      if (!finder.consumers || isVisible(subject, granted, finder)) return granted;
      return authority.grantedToConsumer(principal, await finder.consumers(subject));
    },
  };
};

const identifyTerraform: Identify = async (request, authority, { shared }) => {
  const { principal, run } = await authority.authenticateRun(request);
  return { principal, grantedOn: async (subject) => authority.grantedToRun(run, await shared?.(subject)) };
};

const identifyRunTask: Identify = async (request, authority, { ofTask }) => {
  const { principal, run } = await authority.authenticateOpenTask(request);
  return { principal, grantedOn: async (subject) => (ofTask?.(subject, run) ? grantedToTask : noPermissions) };
};

/** @throws {ApiError} 401 */
const identify: Identify = (request, authority, finder) => {
  if (finder.shared && authority.isOfRun(request)) return identifyTerraform(request, authority, finder);
  if (finder.ofTask && authority.isOfTask(request)) return identifyRunTask(request, authority, finder);
  return identifyUser(request, authority, finder);
};

const nameIn = (subject: object): string | undefined =>
  'name' in subject && typeof subject.name === 'string' ? subject.name : undefined;

/** The subject's attributes in the audit trail. */
const audited = <S extends Subject>(
  subject: S | undefined,
  { scope, parameter: found }: Finder<S>,
  { parameter, creates }: ReturnType<typeof auditActionOf>,
) => {
  if (!subject) return { organization: nowhere };
  const isAddress = parameter === 'name' || parameter === 'moduleProvider';
  const { workspace } = scope(subject);
  const [workspaceId, workspaceName] =
    typeof workspace === 'object' ? [workspace.id, nameIn(workspace)] : [workspace, undefined];
  return {
    organization: subject.organization,
    id: isAddress && 'id' in subject ? String(subject.id) : undefined,
    name: !creates && (found === parameter || isAddress) ? nameIn(subject) : undefined,
    workspaceId,
    workspaceName,
  };
};

/** Finds the subject by the key of its organization, which is the name of one that was not renamed. */
const findByName = async <S extends Subject>(
  request: ApiRequest,
  finder: Finder<S>,
  given: GivenNames,
): Promise<S | undefined> =>
  (await finder.find(request)) ?? ((await toKeys(request, given)) ? finder.find(request) : undefined);

/**
 * A route on a subject: finds the subject while it identifies the caller, then checks visibility and permission, then
 * runs the handler.
 */
export const route = <S extends Subject>(
  method: Method,
  path: `/${string}`,
  permission: Permission,
  finder: Finder<S>,
  handle: (context: Context<S>) => Promise<Answer>,
  query: QueryParameters = {},
): Route => {
  const { what, parameter, takesIdempotencyKey } = finder;
  const auditAction = auditActionOf(method, path);
  const answer = async (request: ApiRequest, authority: Authority): Promise<Answer> => {
    const given = givenNames(request, query);
    const named = request.params[parameter ?? ''];
    const finding = findByName(request, finder, given);
    // Only callers with a valid token see errors of the lookup.
    finding.catch(() => {});
    const { principal, grantedOn } = await identify(request, authority, finder);
    // If the path contains the organization, reads the membership in parallel with the subject.
    if (request.params.organization) principal.standing(request.params.organization).catch(() => {});
    const subject = await finding;
    const auditContext = { request, principal, auditAction, ...audited(subject, finder, auditAction) };
    const granted = subject ? await grantedOn(subject) : noPermissions;
    if (!subject || !isVisible(subject, granted, finder)) {
      // Rejected reads are not recorded, like reads of missing resources.
      await Promise.all([readToMaximum(), method === 'GET' ? undefined : authority.recordRefusal(auditContext)]);
      if (subject) await checkRefusal(principal, subject.organization, request.address);
      throw missing(what, named);
    }
    const renamed = formerName(request, given, subject.organization);
    if (renamed) throw organizationRenamed(renamed);
    const needed = finder.needs?.(subject, permission) ?? permission;
    if (!granted.has(needed)) {
      await authority.recordRefusal(auditContext);
      throw forbidden(`You can see this ${what}, but this request needs the permission ${needed}.`);
    }
    const act = async () => {
      checkParameters(request.query, query);
      if (!takesIdempotencyKey) refuseIdempotencyKey(request);
      return handle({ request, principal, subject, granted });
    };
    if (!isAudited(method, path)) return act();
    // Known since the permissions were determined.
    const { breakGlass } = await principal.standing(subject.organization);
    return authority.withAudit({ ...auditContext, breakGlass }, act);
  };
  return { method, path, access: permission, finder, query, answer: countingReads(answer) };
};

/** The handler of a route that only changes its subject, most often deletes it. */
export const noContentAfter =
  <S extends Subject>(change: (subject: S, context: Context<S>) => Promise<unknown>) =>
  async (context: Context<S>): Promise<Answer> => {
    await change(context.subject, context);
    return noContent();
  };

/**
 * A route without a subject other than the caller. Changes are recorded in the audit trail of the organization in the
 * path, otherwise of every organization of the caller.
 */
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
      refuseIdempotencyKey(request);
      return handle({ request, principal });
    };
    if (!isAudited(method, path)) return act();
    const about = { request, principal, auditAction: auditActionOf(method, path) };
    const { organization } = request.params;
    return organization
      ? authority.withAudit({ ...about, organization }, act)
      : authority.withAuditInAllOrganizations(about, act);
  },
});

/** Full paths, because discovery determines the prefix. */
export const versioned = (routes: Route[]): Route[] =>
  routes.map((route) => ({ ...route, path: `/api/v2${route.path}` }));

export const openRoute = (method: Method, path: `/${string}`, access: 'anyone', answer: Route['answer']): Route => ({
  method,
  path,
  access,
  answer,
});
