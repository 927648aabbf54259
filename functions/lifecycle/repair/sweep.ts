import { DescribeExecutionCommand, SFNClient } from '@aws-sdk/client-sfn';
import { awaitConfiguration } from '#lifecycle/creation/fetching.ts';
import { enqueue } from '#lifecycle/creation/new-run.ts';
import { queueTriggeredRuns } from '#lifecycle/creation/triggered-runs.ts';
import { RunnerStillStoppingError, release } from '#lifecycle/phases/finish.ts';
import { startIfFree, startNext, unmark } from '#lifecycle/queue/queue.ts';
import { launchRunner, needsRunner, replaceUnclaimed } from '#lifecycle/runners/launcher.ts';
import { endHold } from '#lifecycle/runners/runner-stopped.ts';
import { stopStrayRunners } from '#lifecycle/runners/stray-runners.ts';
import { keepWarmRunners } from '#lifecycle/runners/warm-runners.ts';
import { lookAtHealth } from '#lifecycle/timers/assessment-timer.ts';
import { lookAtAutoDestroy } from '#lifecycle/timers/auto-destroy.ts';
import { environment } from '#platform/environment.ts';
import { invokeLater } from '#platform/store/aws.ts';
import { directly } from '#platform/store/direct-calls.ts';
import { checkIn, type Due, dueAttributes, dueShard, dueShards } from '#platform/store/due.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { logError, logWarning } from '#platform/store/log.ts';
import { get, query, update } from '#platform/store/table.ts';
import { completeEnd } from '#removal/organizations.ts';
import { completeDeletionOf, isDueForDeletion } from '#removal/unfinished.ts';
import { listTaskResults } from '#resources/run-tasks/stages.ts';
import { deliver, deliverResult } from '#resources/runs/execution.ts';
import { getRun, updateRun } from '#resources/runs/records.ts';
import { discardStale, isStale } from '#resources/runs/saved-plans.ts';
import { getWorkspace } from '#resources/workspaces/records.ts';
import { entryOf, type RunState, taskStates } from '#run/machine-states.ts';
import type { PhaseName, Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';
import { completeWorkspaceEnd } from './deleted-workspaces.ts';
import { handler as executionStopped } from './execution-stopped.ts';

/**
 * Repairs, every minute: reads exactly those items whose due time passed without progress. Events are best effort,
 * and a handler can stop between two writes; the sweep completes the interrupted work. In a healthy system it reads
 * eight empty index partitions, and lists ECS's tasks.
 */

const client = new SFNClient(directly('states'));
const perShard = 100;
/** Maximum of environments per invocation. */
const perList = 50;
/** Minimum interval between checks of a healthy run. */
const wellSeconds = 5 * 60;

export const handler = async (): Promise<{ looked: number; repaired: number }> => {
  const now = new Date().toISOString();
  const shards = await Promise.all(
    Array.from({ length: dueShards }, (_, n) =>
      query<Key>({ pk: dueShard(n), to: now, index: 'due', limit: perShard }),
    ),
  );
  // The index adds attributes that are not part of a key.
  const items = shards.flat().map(({ pk, sk }): Key => ({ pk, sk }));
  for (const shard of shards) await lookAtEnvironments(shard.filter(({ sk }) => ofEnvironments.has(sk)));
  let repaired = 0;
  for (const key of items.filter(({ sk }) => !ofEnvironments.has(sk))) {
    try {
      const repair = await lookAt(key);
      if (!repair) continue;
      repaired++;
      logRepair(repair, key.pk);
    } catch (error) {
      if (!(error instanceof RunnerStillStoppingError)) logError('repair failed', error, { item: key.pk });
    }
  }
  await keepWarmRunners().catch((error) => logError('warm runners could not be kept', error));
  for (const runId of await stopStrayRunners()) {
    repaired++;
    logRepair('container stopped', runId);
  }
  return { looked: items.length, repaired };
};

/** Logs a repair; an alarm counts them (infra/stack/operations.ts). */
const logRepair = (repair: string, item: string): void => logWarning('repaired', { repair, item });

const lookAt = async (key: Key): Promise<string | undefined> => {
  if (key.sk === 'RUN') return repairRun(key.pk.replace('RUN#', ''));
  if (ofVersionControl.has(key.sk.split('#')[0] ?? '')) return handleVersionControl(key);
  if (key.sk === 'ORG') return (await completeEnd(key.pk.replace('ORG#', ''), 200)) ? 'organization ended' : undefined;
  if (isDueForDeletion(key)) return (await completeDeletionOf(key)) ? 'deletion completed' : undefined;
  if (key.sk === 'AUTODESTROY') return lookAtTimer(key, lookAtAutoDestroy);
  if (key.sk === 'RETENTION') return void (await invokeLater(environment.dataRetentionFunction, { due: [key] }));
  if (key.sk === 'HEALTH') return lookAtTimer(key, lookAtHealth);
  return lookAtWorkspace(key);
};

/** Sort keys of environments, and of templates with prebuilt pools. */
const ofEnvironments = new Set(['ENV', 'TPL']);

/**
 * Scheduled starts and stops, which are not repairs, or interrupted builds. They stay due until they are handled. One
 * invocation for each part of the index, which limits concurrent builds.
 */
const lookAtEnvironments = async (keys: Key[]): Promise<void> => {
  const due = keys.map(({ pk, sk }): Key => ({ pk, sk }));
  if (due.length) await invokeLater(environment.environmentSweepFunction, { due: due.slice(0, perList) });
};

/** Schedules of workspaces (auto-destroy, assessments), which are not repairs. */
const lookAtTimer = async (key: Key, look: (key: Key) => Promise<void>): Promise<undefined> => {
  await look(key);
  return undefined;
};

/** Sort keys of items that the version control function handles. */
const ofVersionControl = new Set(['DELIVERY', 'ARCHIVE', 'COMMIT', 'REPO', 'OC', 'OT', 'GHAIN']);

/** Most of these items are delayed on purpose, so handling one is not a repair. */
const handleVersionControl = async (key: Key): Promise<undefined> => {
  await invokeLater(environment.versionControlEventFunction, { due: key });
  return undefined;
};

/**
 * A deleted workspace (not a repair); a workspace whose lock was released by a function that was interrupted before
 * it started the queue; or a workspace whose first place waited for the creation of its run.
 */
const lookAtWorkspace = async (key: Key): Promise<string | undefined> => {
  const id = key.pk.replace('WS#', '');
  if (await completeWorkspaceEnd(id)) return undefined;
  const mark = await get<Due>(key);
  if (!mark?.dueAt) return undefined;
  const isStarted = await startIfFree(id);
  await unmark(id, mark);
  return isStarted ? 'queue started' : undefined;
};

const repairRun = async (id: string): Promise<string | undefined> => {
  const run = await getRun(id);
  if (!run) return undefined;
  if (isFinal(run.status)) return repairEndedRun(run);
  if (await isEarly(run)) return undefined;
  const execution = await describe(id);
  if (!execution) {
    await enqueue(run);
    await scheduleCheck(run, 60);
    return 'execution started';
  }
  if (execution.status !== 'RUNNING') {
    await scheduleCheck(run, 60);
    await executionStopped({
      detail: { name: id, status: execution.status ?? 'FAILED', error: execution.error, cause: execution.cause },
    });
    return 'run finished';
  }
  const repaired = await repairActiveRun(run);
  await scheduleCheck(run, repaired || hasUnclaimedRunner(run) ? 60 : Math.max(wellSeconds, checkIntervalOf(run)));
  return repaired;
};

/** The run progressed, but its index entry was not moved (platform/store/due.ts). 1 write. */
const isEarly = async ({ id, checkAt, dueAt }: Run): Promise<boolean> => {
  if (!checkAt || checkAt <= new Date().toISOString()) return false;
  await update(keys.run(id), {
    set: { dueAt: checkAt },
    condition: 'checkAt = :checkAt AND dueAt = :dueAt',
    values: { ':checkAt': checkAt, ':dueAt': dueAt },
  });
  return true;
};

/**
 * An ended run whose finisher was interrupted before it released the queue, or whose triggered runs are not queued
 * yet.
 */
const repairEndedRun = async (run: Run): Promise<string> => {
  await release(run);
  await queueTriggeredRuns(run);
  await update(keys.run(run.id), { remove: dueAttributes });
  return 'queue left';
};

/** Repairs of a run whose execution is running. */
const repairActiveRun = async (run: Run): Promise<string | undefined> => {
  if (await deliver(run)) return 'answer delivered';
  if (run.wait?.state === 'ApplyQueued' && run.apply.offeredAt && !run.apply.claimNonce) {
    await endHold(run);
    return 'offer withdrawn';
  }
  const phase = queuedPhase(run);
  if (phase && (await replaceUnclaimed(run, phase))) return 'runner replaced';
  // A function was interrupted before it started a runner, or ECS had no capacity.
  if (phase && needsRunner(run, phase)) {
    await launchRunner(run, phase);
    return 'runner started';
  }
  if (run.savePlan && (await discardIfStale(run))) return 'stale plan discarded';
  if (run.wait?.state === 'Pending') await startNext(run.workspaceId);
  if (hasOpenTasks(run) && (await deliverResults(run))) return 'verdict delivered';
  // Usually the S3 event does this.
  if (run.wait?.state === 'Fetching') await awaitConfiguration(run);
  return undefined;
};

/** The phase that waits for a runner's claim. */
const queuedPhase = ({ status, wait }: Run): PhaseName | undefined => {
  if (status === 'plan_queued' && wait?.state === 'PlanQueued') return 'plan';
  return status === 'apply_queued' && wait?.state === 'ApplyQueued' ? 'apply' : undefined;
};

const hasUnclaimedRunner = (run: Run): boolean => {
  const phase = queuedPhase(run);
  return phase !== undefined && run[phase].taskArn !== undefined;
};

/** The same interval as when the run entered the state. */
const checkIntervalOf = (run: Run): number =>
  run.wait ? entryOf(run.wait.state as RunState, run).lookAfterSeconds : 0;

const hasOpenTasks = ({ wait }: Run): boolean => wait !== undefined && wait.state in taskStates;

/** The function that stored a run task's result may have been interrupted before resuming the execution. */
const deliverResults = async (run: Run): Promise<boolean> =>
  (await Promise.all((await listTaskResults(run)).map(deliverResult))).includes(true);

/** The writer of a new state may have been interrupted before discarding stale plans. */
const discardIfStale = async (run: Run): Promise<boolean> => {
  const workspace = await getWorkspace(run.workspaceId);
  const saved = run.wait?.state === 'PlannedAndSaved' || run.wait?.state === 'Confirmed';
  if (!saved || !workspace || !isStale(run, workspace)) return false;
  await discardStale(run.id);
  return true;
};

const scheduleCheck = (run: Run, seconds: number) => updateRun(run.id, { set: checkIn(run.id, seconds) });

const describe = async (runId: string) => {
  // arn:…:stateMachine:name → arn:…:execution:name:run-id
  const executionArn = `${environment.stateMachineArn.replace(':stateMachine:', ':execution:')}:${runId}`;
  try {
    return await client.send(new DescribeExecutionCommand({ executionArn }));
  } catch (error) {
    if ((error as Error).name === 'ExecutionDoesNotExist') return undefined;
    throw error;
  }
};
