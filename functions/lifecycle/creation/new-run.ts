import { getAgentPool } from '../agent-pools/records.ts';
import { isHidden } from '../run/hidden.ts';
import { takesQueue } from '../run/machine-states.ts';
import { operationOf } from '../run/operation.ts';
import type { Run, RunOptions } from '../run/run.ts';
import { getRun } from '../runs/records.ts';
import { checkIn } from '../store/due.ts';
import { newId, newSecret } from '../store/id.ts';
import { keys } from '../store/keys.ts';
import { create, get, put, update } from '../store/table.ts';
import { now } from '../store/time.ts';
import { isNotified } from '../workspaces/project-notifies.ts';
import type { Workspace } from '../workspaces/records.ts';
import { startExecution } from './execution.ts';
import { beginHidden } from './hidden-runs.ts';
import { yieldToRun } from './yield-to-run.ts';

export interface NewRun extends RunOptions {
  /** Set by a caller that wrote the run's inputs first; otherwise generated here. */
  id?: string;
  configurationVersionId: string;
  archive?: Run['archive'];
  ingress?: Run['ingress'];
  createdBy: string;
  source: string;
  sourceName?: string;
  structuredOutput: boolean;
  terraformVersion: string;
  inputsKey?: string;
  trigger?: Run['trigger'];
  checks?: Run['checks'];
  costEstimate?: Run['costEstimate'];
  appliesFor?: Run['appliesFor'];
  timeLimits?: Run['timeLimits'];
  environment?: string;
  commit?: Run['commit'];
  moduleUpgrade?: Run['moduleUpgrade'];
  move?: FollowedMove;
}

/** A push to the branch that a workspace follows, by its number. */
export interface FollowedMove {
  repository: string;
  follows: string;
  n: number;
}

/** The run is outdated: a newer commit was pushed, or the workspace follows something else. */
export class OutdatedCommitError extends Error {
  override name = 'OutdatedCommitError';
}

/**
 * Numbers, stores, queues and starts a run. If this stops on the way, the sweep finds the run by its due time and
 * calls {@link enqueue} again. 6 writes, 1 StartExecution, however long the queue is.
 */
export const createRun = async (workspaceId: string, options: NewRun): Promise<Run> => {
  const { id = newId('run'), move: _, ...rest } = options;
  const workspace = await countRun(workspaceId, id, options);
  if (!options.planOnly) await yieldToRun(workspace);
  const createdAt = now();
  const run: Run = {
    ...rest,
    ...(await pendingIn(workspace, createdAt)),
    ...(isNotified(workspace) ? { notifies: true } : {}),
    id,
    number: workspace.runCount,
    ...(rest.checks ? { verdicts: {}, overrides: {} } : {}),
  };
  if (!(await create({ ...keys.run(id), ...run, ...checkIn(id, 60) }))) {
    const stored = (await getRun(id)) as Run;
    // A concurrent request has created the run with another number. The same number means that the SDK repeated this
    // write because its response was lost.
    if (stored.number !== run.number) return stored;
  }
  await enqueue(run);
  return run;
};

/** The attributes of a workspace that a new run copies. */
export type RunHome = Pick<
  Workspace,
  'id' | 'organization' | 'name' | 'executionMode' | 'agentPoolId' | 'engine' | 'workingDirectory'
>;

/** What a run copies from its workspace when it is created. 1 read for a workspace with agents. */
export const pendingIn = async (workspace: RunHome, createdAt: string) => {
  const agentPool = await agentPoolOf(workspace);
  return {
    ...(agentPool ? { agentPool } : {}),
    ...(workspace.engine ? { engine: workspace.engine } : {}),
    organization: workspace.organization,
    workspaceId: workspace.id,
    workspaceName: workspace.name,
    workingDirectory: workspace.workingDirectory ?? '',
    status: 'pending',
    statusTimestamps: { 'plan-queueable-at': createdAt },
    createdAt,
    logSecret: newSecret(),
    plan: { status: 'pending', statusTimestamps: {} },
    apply: { status: 'pending', statusTimestamps: {} },
  } satisfies Partial<Run>;
};

/** No newer commit was pushed, and no unmerged pull request was applied, which a run would undo. */
const stillFollows =
  'vcsFollows = :follows AND vcsMoves = :n AND (attribute_not_exists(vcsPull) OR vcsPull.repository <> :repository)';
const isNewest = ({ vcsFollows, vcsMoves, vcsPull }: Workspace, { follows, n, repository }: FollowedMove): boolean =>
  vcsFollows === follows && vcsMoves === n && vcsPull?.repository !== repository;

/**
 * Assigns the run's number: the workspace's `runCount`. The item names the run that has the last number, so that an SDK
 * retry after a lost response does not assign a second one. 1 write.
 */
const countRun = async (workspaceId: string, id: string, { planOnly, move }: NewRun): Promise<Workspace> => {
  const key = keys.workspace(workspaceId);
  for (;;) {
    const counted = await update<Workspace>(key, {
      add: { runCount: 1, ...(planOnly ? { planOnlyCount: 1 } : {}) },
      set: { countedRunId: id },
      condition: `attribute_exists(pk) AND attribute_not_exists(deletedAt) AND (attribute_not_exists(countedRunId) OR countedRunId <> :id)${move ? ` AND ${stillFollows}` : ''}`,
      values: {
        ':id': id,
        ...(move ? { ':follows': move.follows, ':n': move.n, ':repository': move.repository } : {}),
      },
    });
    const workspace = counted ?? (await get<Workspace>(key));
    if (!workspace || workspace.deletedAt) throw new Error(`workspace ${workspaceId} does not exist`);
    if (workspace.countedRunId === id) return workspace;
    if (move && !isNewest(workspace, move)) {
      throw new OutdatedCommitError(`workspace ${workspaceId} has moved on`);
    }
  }
};

/** Id and name of the agent pool; messages show the name. 1 read for a workspace with agents. */
const agentPoolOf = async ({ executionMode, agentPoolId }: RunHome): Promise<Run['agentPool']> => {
  if (executionMode !== 'agent' || !agentPoolId) return undefined;
  return { id: agentPoolId, name: (await getAgentPool(agentPoolId))?.name ?? agentPoolId };
};

/** Everything after the run item; each step may be repeated. */
export const enqueue = async (run: Run): Promise<void> => {
  if (isHidden(run)) {
    await beginHidden(run);
    return startExecution(run);
  }
  const pointer = { runId: run.id, workspaceId: run.workspaceId, operation: operationOf(run), source: run.source };
  await Promise.all([
    put({ ...keys.runNumber(run.workspaceId, run.number), ...pointer }),
    put({ ...keys.organizationRun(run.organization, run.createdAt, run.id), ...pointer }),
    put({ ...keys.openRun(run.organization, run.createdAt, run.id), ...pointer }),
    takesQueue(run) && put({ ...keys.queued(run.workspaceId, run.number), runId: run.id }),
  ]);
  await startExecution(run);
};
