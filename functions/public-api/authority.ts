import { isTokenOf } from '#api/admission.ts';
import type { Authority, Consumers, SharedSubject } from '#api/authority.ts';
import { secretOf } from '#api/bearer.ts';
import { notFound, unauthorized } from '#api/errors.ts';
import { noteName } from '#api/naming.ts';
import { type Granted, noPermissions, ofConsumer, ofRun } from '#api/permissions/granted.ts';
import type { Principal } from '#api/permissions/principal.ts';
import type { ApiRequest } from '#api/request.ts';
import { recordRefusal, withAudit, withAuditInAllOrganizations } from '#resources/audit/trail.ts';
import { authenticateTask } from '#resources/run-tasks/authenticate-task.ts';
import { findResultOfAccessToken, isAccessToken, resultIdIn } from '#resources/run-tasks/results.ts';
import { findRunOfStateToken, isStateToken, runIdIn } from '#resources/runs/state-tokens.ts';
import { sharesState } from '#resources/states/sharing.ts';
import { grantsOfUser, noGrants } from '#resources/teams/access/grants.ts';
import { membershipsOf } from '#resources/users/memberships.ts';
import { findToken, lifetimeOf, recordTokenUse } from '#resources/users/tokens.ts';
import type { Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';
import { isResultFinal } from '#run/task-stages.ts';

/**
 * 1 strongly consistent read, so that a revoked token stops working at once.
 * @throws {ApiError} 401
 */
const authenticate = async (request: ApiRequest): Promise<Principal> => {
  const secret = secretOf(request);
  if (isStateToken(secret) && (await findRunOfStateToken(secret))) {
    throw notFound("A run's token can only read the state that is shared with its workspace.");
  }
  if (isAccessToken(secret) && (await findResultOfAccessToken(secret))) {
    throw notFound("A run task's token can only read the configuration and the plan of its run.");
  }
  const token = await findToken(secret);
  if (!token) throw unauthorized();
  isTokenOf(request.header('authorization'), token.userId);
  const { kind, userId, id: tokenId, organization, createdAt, sso } = token;
  // Failing to record the use must not fail the request.
  if (kind !== 'session') await recordTokenUse(token, secret).catch(() => {});
  const lifetimeMs = kind === 'session' ? undefined : lifetimeOf(token);
  const grants = grantsOfUser(userId, { kind, lifetimeMs, createdAt, sso, address: request.address });
  return { kind: kind === 'session' ? 'user' : kind, userId, tokenId, lifetimeMs, sso, organization, ...grants };
};

/** True for Terraform's token in a run: only routes with `shared` accept it (route.ts). */
const isOfRun = (request: ApiRequest): boolean => isStateToken(secretOf(request));

/**
 * The run whose Terraform sends the request, as a principal without permissions.
 * @throws {ApiError} 401
 */
const authenticateRun = async (request: ApiRequest): Promise<{ run: Run; principal: Principal }> => {
  const run = await findRunOfStateToken(secretOf(request));
  if (!run) throw unauthorized();
  noteName(run.organization, run.organizationName);
  isTokenOf(request.header('authorization'), null);
  return { run, principal: { kind: 'run', userId: run.createdBy, tokenId: run.id, ...noGrants } };
};

const includes = (consumers: Consumers, organization: string): boolean =>
  consumers === 'every organization' || consumers.has(organization);

/** 1 read if there are consumers, and those of the caller's permissions in each that is an organization of theirs. */
const grantedToConsumer = async (principal: Principal, consumers: Consumers): Promise<Granted> => {
  if (consumers !== 'every organization' && consumers.size === 0) return noPermissions;
  for (const { organization } of await membershipsOf(principal.userId)) {
    if (includes(consumers, organization) && (await principal.on({ organization })).has('registry:read')) {
      return ofConsumer;
    }
  }
  return noPermissions;
};

/** Permissions of a run on a subject: those of a reader of shared state, or none. */
const grantedToRun = async (run: Run, shared: SharedSubject | undefined): Promise<Granted> => {
  if (shared?.organization !== run.organization) {
    const consumers = await shared?.consumers?.();
    return consumers && includes(consumers, run.organization) ? ofConsumer : noPermissions;
  }
  if (!shared.workspace) return ofRun;
  // Authors of a module's tests may lack the permission to read states.
  return !run.test && (await sharesState(shared.workspace, run)) ? ofRun : noPermissions;
};

/** True for a run task's token: only routes with `ofTask` accept it (route.ts). */
const isOfTask = (request: ApiRequest): boolean => isAccessToken(secretOf(request));

/**
 * Like {@link authenticateTask}, but only while the run waits for the result.
 * @throws {ApiError} 401
 */
const authenticateOpenTask = async (request: ApiRequest): Promise<{ run: Run; principal: Principal }> => {
  const { result, run } = await authenticateTask(request);
  if (isResultFinal(result.status) || isFinal(run.status)) throw unauthorized();
  noteName(run.organization, run.organizationName);
  return { run, principal: { kind: 'task', userId: run.createdBy, tokenId: result.id, ...noGrants } };
};

const callerOf = async (secret: string): Promise<string | null | undefined> => {
  if (isStateToken(secret)) return (await findRunOfStateToken(secret)) ? null : undefined;
  if (isAccessToken(secret)) return (await findResultOfAccessToken(secret))?.id;
  return (await findToken(secret))?.userId;
};

/** Used by every function of the public API. */
export const authority: Authority = {
  idIn: (secret) => resultIdIn(secret) ?? runIdIn(secret),
  callerOf,
  authenticate,
  isOfRun,
  authenticateRun,
  grantedToRun,
  grantedToConsumer,
  isOfTask,
  authenticateOpenTask,
  recordRefusal,
  withAudit,
  withAuditInAllOrganizations,
};
