import type { Run } from '#run/run.ts';
import type { Answer } from './answer.ts';
import type { AuditAction } from './audit-action.ts';
import type { Granted } from './permissions/granted.ts';
import type { Principal } from './permissions/principal.ts';
import type { ApiRequest } from './request.ts';

export interface AuditContext {
  request: ApiRequest;
  principal: Pick<Principal, 'userId' | 'sso'> & { kind: Principal['kind'] | 'scim' | 'slack'; tokenId?: string };
  auditAction: AuditAction;
  organization: string;
  /** Id of the resource, if the path has its name. */
  id?: string;
  /** Name of the resource, if it was read for the request. */
  name?: string;
  /** The workspace itself, or the workspace of the resource. */
  workspaceId?: string;
  workspaceName?: string;
  /** More about the way it came. */
  meta?: Record<string, string>;
  /** The break-glass owner acts without single sign-on. */
  breakGlass?: true | undefined;
}

/** A subject that a run may read: its own organization, or the current state of a workspace. */
export interface SharedSubject {
  organization: string;
  workspace?: {
    id: string;
    organization: string;
    projectId: string;
    globalRemoteState?: boolean;
    projectRemoteState?: boolean;
  };
  /** Organizations whose runs may read it as well. */
  consumers?(): Promise<Consumers>;
}

/** Organizations with which another one shares a subject. */
export type Consumers = 'every organization' | ReadonlySet<string>;

/** Authentication and audit trail for users, runs and run tasks, which routes use (public-api/authority.ts). */
export interface Authority {
  /**
   * Id of the run or task result in a token that is not verified yet; its requests count for this id. Forged ids evade
   * the limit of the address, but each request costs only one read.
   */
  idIn(secret: string): string | undefined;
  /**
   * The caller whose rate limit applies to a valid token (admission.ts); null for a run; undefined for an invalid
   * token. At most 1 read.
   */
  callerOf(secret: string): Promise<string | null | undefined>;
  /** @throws {ApiError} 401 */
  authenticate(request: ApiRequest): Promise<Principal>;
  /** True for Terraform's token in a run: valid for the few routes that allow it (route.ts: shared). */
  isOfRun(request: ApiRequest): boolean;
  /** @throws {ApiError} 401 */
  authenticateRun(request: ApiRequest): Promise<{ run: Run; principal: Principal }>;
  /** The run's permissions on a subject: reading shared state, or none. */
  grantedToRun(run: Run, shared: SharedSubject | undefined): Promise<Granted>;
  /** Permissions of a member of an organization with which the subject is shared: reading it, or none. */
  grantedToConsumer(principal: Principal, consumers: Consumers): Promise<Granted>;
  /** True for the access token of a run task: valid for the few routes that allow it (route.ts: ofTask). */
  isOfTask(request: ApiRequest): boolean;
  /** @throws {ApiError} 401 */
  authenticateOpenTask(request: ApiRequest): Promise<{ run: Run; principal: Principal }>;
  recordRefusal(about: AuditContext): Promise<void>;
  withAudit(about: AuditContext, handle: () => Promise<Answer>): Promise<Answer>;
  withAuditInAllOrganizations(
    about: Omit<AuditContext, 'organization'>,
    handle: () => Promise<Answer>,
  ): Promise<Answer>;
}
