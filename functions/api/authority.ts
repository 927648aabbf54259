import type { Run } from '../run/run.ts';
import type { Answer } from './answer.ts';
import type { AuditAction } from './audit-action.ts';
import type { Granted } from './permissions/granted.ts';
import type { Principal } from './permissions/principal.ts';
import type { ApiRequest } from './request.ts';

export interface AuditContext {
  request: ApiRequest;
  principal: Pick<Principal, 'userId' | 'kind'> & { tokenId?: string };
  deed: AuditAction;
  organization: string;
  /** What the path's last parameter stands for, where that is a name. */
  id?: string;
  /** The workspace it is in, or is. */
  workspaceId?: string;
}

/** What a run may be shown of a subject: its organization, or the workspace whose current state it is. */
export interface SharedSubject {
  organization: string;
  workspace?: {
    id: string;
    organization: string;
    projectId: string;
    globalRemoteState: boolean;
    projectRemoteState: boolean;
  };
}

/** Who calls, in whose name, and the trail of it: what routes need of people, runs and run tasks (public-api/authority.ts). */
export interface Authority {
  /**
   * The id of the run or task result that a token says it is of. Not yet verified: whoever makes one up is let through to
   * a read, which costs less than the call did.
   */
  idIn(secret: string): string | undefined;
  /** @throws {ApiError} 401 */
  authenticate(request: ApiRequest): Promise<Principal>;
  /** True for a token that Terraform has in a run: good for the few routes that say so (route.ts: shared). */
  isOfRun(request: ApiRequest): boolean;
  /** @throws {ApiError} 401 */
  authenticateRun(request: ApiRequest): Promise<{ run: Run; principal: Principal }>;
  /** What the run is for a subject: a reader of shared state, or nobody. */
  grantedToRun(run: Run, shared: SharedSubject | undefined): Promise<Granted>;
  /** True for a token that a run task was sent: good for the few routes that say so (route.ts: ofTask). */
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
