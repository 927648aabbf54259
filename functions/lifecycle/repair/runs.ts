import { DescribeExecutionCommand } from '@aws-sdk/client-sfn';
import { awaitConfiguration } from '#lifecycle/creation/fetching.ts';
import { enqueue } from '#lifecycle/creation/new-run.ts';
import { queueTriggeredRuns } from '#lifecycle/creation/triggered-runs.ts';
import { release } from '#lifecycle/phases/finish.ts';
import { startNext } from '#lifecycle/queue/queue.ts';
import { launchRunner, needsRunner, replaceUnclaimed } from '#lifecycle/runners/launcher.ts';
import { forgetReady } from '#lifecycle/runners/lost-runners.ts';
import { repairSlot } from '#lifecycle/slots/slots.ts';
import { environment } from '#platform/environment.ts';
import { checkIn, dueAttributes } from '#platform/store/due.ts';
import { keys } from '#platform/store/keys.ts';
import { states } from '#platform/store/states.ts';
import { update } from '#platform/store/table.ts';
import { listTaskResults } from '#resources/run-tasks/stages.ts';
import { deliver, deliverResult } from '#resources/runs/execution.ts';
import { getRun, updateRun } from '#resources/runs/records.ts';
import { discardStale, isStale } from '#resources/runs/saved-plans.ts';
import { getWorkspace } from '#resources/workspaces/records.ts';
import { isReserved } from '#run/lifecycle.ts';
import { entryOf, type RunState, taskStates } from '#run/machine-states.ts';
import type { PhaseName, Run } from '#run/run.ts';
import { awaitedSlot } from '#run/slots.ts';
import { isFinal } from '#run/status.ts';
import { handler as executionStopped } from './execution-stopped.ts';

/** Minimum interval between checks of a healthy run. */
const wellSeconds = 5 * 60;

/** Completes what an interrupted function or a lost event left undone. @returns the repair, if there was one */
export const repairRun = async (id: string): Promise<string | undefined> => {
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
  if (run.wait?.state === 'Planning' && isReserved(run)) {
    await forgetReady(run);
    return 'reservation withdrawn';
  }
  const awaited = awaitedSlot(run);
  if (awaited) return (await repairSlot(run, awaited)) ? 'runner slot given' : undefined;
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
  return phase !== undefined && run[phase].taskId !== undefined;
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
    return await states().send(new DescribeExecutionCommand({ executionArn }));
  } catch (error) {
    if ((error as Error).name === 'ExecutionDoesNotExist') return undefined;
    throw error;
  }
};
