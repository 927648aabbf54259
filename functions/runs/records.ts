import { getAgentPool } from '../agent-pools/records.ts';
import { startExecution } from '../orchestration/execution.ts';
import { takesQueue } from '../run/machine-states.ts';
import { operationOf } from '../run/operation.ts';
import type { Run, RunOptions } from '../run/run.ts';
import { finalStatuses, type PhaseStatus, partTimestampKey, type RunStatus, timestampKey } from '../run/status.ts';
import { type Due, dueIn } from '../store/due.ts';
import { newId, newSecret } from '../store/id.ts';
import { type Key, keys } from '../store/keys.ts';
import { batchGet, type Change, create, get, put, query, update } from '../store/table.ts';
import { now } from '../store/time.ts';
import type { Workspace } from '../workspaces/records.ts';
import { recordRunEvent } from './events.ts';

type RunItem = Run & Key & Due;

export const getRun = (id: string): Promise<Run | undefined> => get<RunItem>(keys.run(id));

export interface NewRun extends RunOptions {
  /** Given by a caller that wrote the run's inputs first; else made here. */
  id?: string;
  configurationVersionId: string;
  archive?: Run['archive'];
  ingress?: Run['ingress'];
  createdBy: string;
  source: string;
  structuredOutput: boolean;
  terraformVersion: string;
  inputsKey?: string;
  trigger?: Run['trigger'];
  checks?: Run['checks'];
  costEstimate?: Run['costEstimate'];
  appliesFor?: Run['appliesFor'];
  timeLimits?: Run['timeLimits'];
}

/**
 * Numbers, stores, queues and starts a run. If it dies on the way, the sweep finds the run by its due time and calls
 * {@link enqueue} again. 7 writes, 1 StartExecution, however long the queue is.
 */
export const createRun = async (workspaceId: string, options: NewRun): Promise<Run> => {
  const { id = newId('run'), ...given } = options;
  const workspace = await countRun(workspaceId, id, options);
  const createdAt = now();
  const agentPool = await agentPoolOf(workspace);
  const run: Run = {
    ...given,
    ...(agentPool ? { agentPool } : {}),
    ...(workspace.notifications ? { notifies: true } : {}),
    id,
    organization: workspace.organization,
    workspaceId,
    workspaceName: workspace.name,
    workingDirectory: workspace.workingDirectory ?? '',
    number: workspace.runCount,
    status: 'pending',
    statusTimestamps: { 'plan-queueable-at': createdAt },
    createdAt,
    logSecret: newSecret(),
    plan: { status: 'pending', statusTimestamps: {} },
    apply: { status: 'pending', statusTimestamps: {} },
    ...(given.checks ? { verdicts: {}, overrides: {} } : {}),
  };
  if (!(await create({ ...keys.run(id), ...run, ...dueIn(id, 60) }))) {
    const known = (await getRun(id)) as Run;
    // Asked for twice at the same time: the other one has the number. The same number is that of a write of its own,
    // which the SDK tried again because the answer was lost.
    if (known.number !== run.number) return known;
  }
  await enqueue(run);
  return run;
};

/**
 * Gives a run its number: the workspace's `runCount`. The item says which run had the last one, so that the SDK's second
 * try of a write whose answer was lost gives no second one. 1 write.
 */
const countRun = async (workspaceId: string, id: string, { planOnly }: NewRun): Promise<Workspace> => {
  const key = keys.workspace(workspaceId);
  for (;;) {
    const counted = await update<Workspace>(key, {
      add: { runCount: 1, ...(planOnly ? { planOnlyCount: 1 } : {}) },
      set: { countedRunId: id },
      condition:
        'attribute_exists(pk) AND attribute_not_exists(deletedAt) AND (attribute_not_exists(countedRunId) OR countedRunId <> :id)',
      values: { ':id': id },
    });
    const workspace = counted ?? (await get<Workspace>(key));
    if (!workspace || workspace.deletedAt) throw new Error(`workspace ${workspaceId} does not exist`);
    if (workspace.countedRunId === id) return workspace;
  }
};

/** By name too, because that is what people are told. 1 read for a workspace with agents. */
const agentPoolOf = async ({ executionMode, agentPoolId }: Workspace): Promise<Run['agentPool']> => {
  if (executionMode !== 'agent' || !agentPoolId) return undefined;
  return { id: agentPoolId, name: (await getAgentPool(agentPoolId))?.name ?? agentPoolId };
};

/** Everything after the run item; each step may be repeated. */
export const enqueue = async (run: Run): Promise<void> => {
  const pointer = { runId: run.id, workspaceId: run.workspaceId, operation: operationOf(run), source: run.source };
  await Promise.all([
    put({ ...keys.runNumber(run.workspaceId, run.number), ...pointer }),
    put({ ...keys.organizationRun(run.organization, run.createdAt, run.id), ...pointer }),
    put({ ...keys.openRun(run.organization, run.createdAt, run.id), ...pointer }),
    takesQueue(run) && put({ ...keys.queued(run.workspaceId, run.number), runId: run.id }),
    recordRunEvent(run, 'created', run.createdBy, undefined, run.createdAt),
  ]);
  await startExecution(run);
};

/** Newest first; `page` from 1. Reads the pointers and runs of that page only. */
export const listRuns = async (
  workspaceId: string,
  { page, size, total }: { page: number; size: number; total: number },
): Promise<Run[]> => {
  const newest = total - (page - 1) * size;
  if (newest < 1) return [];
  const pointers = await query<{ runId: string }>({
    pk: keys.workspace(workspaceId).pk,
    from: keys.runNumber(workspaceId, Math.max(1, newest - size + 1)).sk,
    to: keys.runNumber(workspaceId, newest).sk,
    reverse: true,
  });
  return batchGet<RunItem>(pointers.map(({ runId }) => keys.run(runId)));
};

const notFinal = (names: Record<string, string>, values: Record<string, unknown>): string => {
  names['#status'] = 'status';
  finalStatuses.forEach((status, i) => {
    values[`:final${i}`] = status;
  });
  return `NOT #status IN (${finalStatuses.map((_, i) => `:final${i}`).join(', ')})`;
};

/** One conditional write of a run that is not final; undefined when it is, or when `condition` does not hold. */
export const updateRun = (id: string, change: Change): Promise<Run | undefined> => {
  const names = { ...change.names };
  const values = { ...change.values };
  const open = notFinal(names, values);
  return update<RunItem>(keys.run(id), {
    ...change,
    names,
    values,
    condition: change.condition ? `${open} AND (${change.condition})` : open,
  });
};

/** The writes that put statuses into a run and stamp them; a stamp is given once and never moved. */
export const statusChange = (
  to: { status: RunStatus; plan?: PhaseStatus; apply?: PhaseStatus; passed: readonly RunStatus[] },
  run: Pick<Run, 'statusTimestamps' | 'plan' | 'apply'>,
  at: string,
): Record<string, unknown> => {
  const set: Record<string, unknown> = { status: to.status };
  for (const status of [...to.passed, to.status]) {
    const key = timestampKey(status);
    if (!run.statusTimestamps[key]) set[`statusTimestamps.${key}`] = at;
  }
  for (const phase of ['plan', 'apply'] as const) {
    const status = to[phase];
    if (!status || status === run[phase].status) continue;
    set[`${phase}.status`] = status;
    // What never came about has no time.
    if (status === 'unreachable') continue;
    set[`${phase}.statusTimestamps.${status === 'running' ? 'started-at' : partTimestampKey(status)}`] = at;
  }
  return set;
};
