import { dropPlace, type Taken, takePlace, unlessVoided } from '#lifecycle/queue/places.ts';
import { startIfFree } from '#lifecycle/queue/queue.ts';
import { claimTurn } from '#lifecycle/queue/turns.ts';
import { yieldToRun } from '#lifecycle/queue/yield-to-run.ts';
import { environment } from '#platform/environment.ts';
import { checkIn } from '#platform/store/due.ts';
import { newId, newSecret } from '#platform/store/id.ts';
import { invocation } from '#platform/store/invocation.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { logInfo } from '#platform/store/log.ts';
import { put } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { getAgentPool } from '#resources/agents/pools/records.ts';
import { startExecution } from '#resources/runs/execution.ts';
import type { RunPointer } from '#resources/runs/lists.ts';
import { getRun, itemOf } from '#resources/runs/records.ts';
import { isNotified } from '#resources/workspaces/project-notifies.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import { isHidden } from '#run/hidden.ts';
import { takesQueue } from '#run/machine-states.ts';
import { operationOf } from '#run/operation.ts';
import { defaultOptions, type Run } from '#run/run.ts';
import { isLimited } from '#run/slots.ts';
import { beginHidden } from './hidden-runs.ts';

/** Attributes of a run that its creator chooses. */
export type ChosenRun = Pick<Run, 'createdBy' | 'source'> &
  Partial<
    Pick<
      Run,
      | keyof typeof defaultOptions
      | 'id'
      | 'autoApply'
      | 'commit'
      | 'moduleUpgrade'
      | 'requestHash'
      | 'sourceName'
      | 'terraformVersion'
      | 'trigger'
    >
  >;

/** A run as its creator stores it. Its other attributes follow from its workspace. */
export type NewRun = ChosenRun &
  Pick<Run, 'configurationVersionId' | 'structuredOutput' | 'terraformVersion'> &
  Partial<
    Pick<
      Run,
      | 'appliesFor'
      | 'archive'
      | 'assessment'
      | 'checks'
      | 'costEstimate'
      | 'environment'
      | 'ingress'
      | 'inputsKey'
      | 'providerSetsKey'
      | 'query'
      | 'restarts'
      | 'test'
      | 'timeLimits'
    >
  >;

/** A push to the branch that a workspace follows, by its number. */
export interface FollowedMove {
  repository: string;
  follows: string;
  n: number;
}

/** The run is outdated: a newer commit was pushed, or the workspace's repository or branch changed. */
export class OutdatedCommitError extends Error {
  override name = 'OutdatedCommitError';
}

/** The run's place was voided because its creation took too long (places.ts). */
export class CreationTooLateError extends Error {
  override name = 'CreationTooLateError';
}

/**
 * Takes the run's number and place, then stores and starts it. If this is interrupted before the run exists, its
 * place is voided and the run is never created. If it is interrupted later, the sweep finds the run by its due time
 * and calls {@link enqueue} again. 6 writes and 1 StartExecution regardless of the queue's length; 1 read and 2
 * writes more if the workspace is free.
 * @param newRun with an id if the caller wrote inputs of the run first, or repeats the request
 * @param move creates no run if the move is outdated
 * @throws {OutdatedCommitError}
 * @throws {CreationTooLateError}
 */
export const createRun = async (workspaceId: string, newRun: NewRun, move?: FollowedMove): Promise<Run> => {
  const { id = newId('run'), planOnly = false, savePlan = false } = newRun;
  const queued = takesQueue({ planOnly, savePlan });
  const { workspace, place } = await countRun({ id, workspaceId, planOnly }, queued, move);
  if (!planOnly) await yieldToRun(workspace);
  const run: Run = {
    ...(await pendingRun(workspace, { ...newRun, id })),
    ...(isNotified(workspace) ? { notifies: true } : {}),
    ...(queued ? { place } : {}),
    number: workspace.runCount,
  };
  if (!(await put({ ...keys.run(id), ...itemOf(run), ...checkIn(id, 60) }, unlessVoided(place)))) {
    const stored = await getRun(id);
    // The same number means that the SDK repeated this write because its response was lost.
    if (stored?.number !== run.number) {
      if (queued) await leavePlace(run, place);
      // A concurrent request has created the run with another number.
      if (stored) return completed(stored);
      throw new CreationTooLateError(`Run ${id} was not created: it took too long. Create it again.`);
    }
  }
  await enqueue(run, { isLocked: workspace.lock !== undefined });
  return run;
};

/** A run whose creation may have been interrupted after it was stored. */
export const completed = async (run: Run): Promise<Run> => {
  if (run.status === 'pending' && !run.wait) await enqueue(run);
  return run;
};

/** The attributes of a workspace that a new run copies. */
export type RunHome = Pick<
  Workspace,
  'id' | 'organization' | 'name' | 'executionMode' | 'agentPoolId' | 'engine' | 'workingDirectory'
> &
  Partial<Pick<Workspace, 'projectId'>>;

/** A run that has just been created, without a number. 1 read for a workspace with agents. */
export const pendingRun = async (workspace: RunHome, newRun: NewRun & Pick<Run, 'id'>): Promise<Run> => {
  const agentPool = await agentPoolOf(workspace);
  const createdAt = now();
  const request = environment.otlpEndpoint ? invocation()?.request : undefined;
  return {
    autoApply: false,
    ...defaultOptions,
    ...newRun,
    ...(newRun.checks ? { verdicts: {}, overrides: {} } : {}),
    ...(request ? { request } : {}),
    number: 0,
    ...(agentPool ? { agentPool } : {}),
    ...(!agentPool && isLimited(environment.maxRunners, workspace.organization) ? { limited: true } : {}),
    ...(workspace.engine ? { engine: workspace.engine } : {}),
    organization: workspace.organization,
    workspaceId: workspace.id,
    workspaceName: workspace.name,
    ...(workspace.projectId ? { projectId: workspace.projectId } : {}),
    workingDirectory: workspace.workingDirectory ?? '',
    status: 'pending',
    statusTimestamps: { 'plan-queueable-at': createdAt },
    createdAt,
    logSecret: newSecret(),
    plan: { status: 'pending', statusTimestamps: {} },
    apply: { status: 'pending', statusTimestamps: {} },
  };
};

/** False if a newer commit was pushed, or an unmerged pull request was applied, which the run would undo. */
const stillFollows =
  'vcsFollows = :follows AND vcsMoves = :n AND (attribute_not_exists(vcsPull) OR vcsPull.repository <> :repository)';
const isNewest = ({ vcsFollows, vcsMoves, vcsPull }: Workspace, { follows, n, repository }: FollowedMove): boolean =>
  vcsFollows === follows && vcsMoves === n && vcsPull?.repository !== repository;

/** Assigns the run's number, the workspace's `runCount`, with its place in the queue. */
const countRun = async (
  { id, workspaceId, planOnly }: Pick<Run, 'id' | 'workspaceId' | 'planOnly'>,
  queued: boolean,
  move: FollowedMove | undefined,
): Promise<Taken> => {
  const commit = {
    add: { runCount: 1, ...(planOnly ? { planOnlyCount: 1 } : {}) },
    ...(move ? { condition: stillFollows } : {}),
    values: move ? { ':follows': move.follows, ':n': move.n, ':repository': move.repository } : {},
    refusal: (workspace: Workspace) =>
      move && !isNewest(workspace, move)
        ? new OutdatedCommitError(`workspace ${workspaceId} already has a newer commit`)
        : undefined,
  };
  try {
    return await takePlace({ id, workspaceId }, commit, queued);
  } catch (error) {
    // Another run may have waited for the entry.
    if (queued && error instanceof OutdatedCommitError) await startIfFree(workspaceId);
    throw error;
  }
};

/** Gives up a place, and starts a run that waits behind it. */
const leavePlace = async (run: Run, place: number): Promise<void> => {
  await dropPlace(run, place);
  await startIfFree(run.workspaceId);
};

/** Id and name of the agent pool; messages show the name. 1 read for a workspace with agents. */
const agentPoolOf = async ({ executionMode, agentPoolId }: RunHome): Promise<Run['agentPool']> => {
  if (executionMode !== 'agent' || !agentPoolId) return undefined;
  return { id: agentPoolId, name: (await getAgentPool(agentPoolId))?.name ?? agentPoolId };
};

/**
 * All steps after the run's item was stored; each is idempotent.
 * @param isLocked the workspace was locked a moment ago: the run waits in Pending without another check
 */
export const enqueue = async (run: Run, { isLocked = false } = {}): Promise<void> => {
  logInfo('run created', { runId: run.id, workspaceId: run.workspaceId });
  if (isHidden(run)) {
    await beginHidden(run);
    return startExecution(run);
  }
  const pointer: Omit<RunPointer, keyof Key> = {
    runId: run.id,
    workspaceId: run.workspaceId,
    operation: operationOf(run),
    source: run.source,
    ...(run.environment ? { managed: true } : {}),
  };
  const [started] = await Promise.all([
    isLocked ? run : claimTurn(run),
    put({ ...keys.runNumber(run.workspaceId, run.number), ...pointer }),
    put({ ...keys.organizationRun(run.organization, run.createdAt, run.id), ...pointer }),
    put({ ...keys.openRun(run.organization, run.createdAt, run.id), ...pointer }),
  ]);
  await startExecution(started);
};
