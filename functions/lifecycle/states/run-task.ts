import { setTimeout as delay } from 'node:timers/promises';
import { enterCheck, type WaitingTask } from '#lifecycle/phases/progress.ts';
import { environment } from '#platform/environment.ts';
import { askTask } from '#platform/net/outbound/run-task.ts';
import { getConfigurationVersion } from '#resources/configurations/records.ts';
import { getTask, openHmacKey } from '#resources/run-tasks/records.ts';
import {
  acknowledgeResult,
  awaitResult,
  getTaskResult,
  settleResult,
  type TaskResult,
} from '#resources/run-tasks/results.ts';
import { cancelTaskWait, deliverResult } from '#resources/runs/execution.ts';
import { getRun } from '#resources/runs/records.ts';
import { getUser } from '#resources/users/users.ts';
import type { TaskStage } from '#run/check-record.ts';
import { type TaskState, taskStates } from '#run/machine-states.ts';
import { nameOfCreator, type Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';
import { taskPayload } from '#run/task-payload.ts';
import { isResultFinal } from '#run/task-stages.ts';

export interface RunTaskInput extends WaitingTask {
  taskResultId: string;
}

/** Pauses between attempts. They fit into the function's two minutes, even if each attempt takes the maximum time. */
export const defaultPausesMs: readonly number[] = [1_000, 2_000, 4_000, 8_000, 16_000];

const isOver = (run: Run | undefined): boolean => !run || run.cancel !== undefined || isFinal(run.status);

const payloadOf = async (run: Run, result: TaskResult, accessToken: string) => {
  const [version, user] = await Promise.all([
    getConfigurationVersion(run.configurationVersionId),
    getUser(run.createdBy),
  ]);
  return taskPayload({
    run,
    result,
    accessToken,
    createdBy: user?.username ?? nameOfCreator(run),
    hasConfiguration: version?.status === 'uploaded',
    baseUrl: environment.publicUrl,
  });
};

/** The result was already delivered, or is no longer needed. */
const isMoot = async ({ id, runId }: TaskResult): Promise<boolean> => {
  const [result, run] = await Promise.all([getTaskResult(id), getRun(runId)]);
  return result?.status !== 'pending' || isOver(run);
};

/** The task cannot be called: stores the reason as its result, and ends the wait at once. */
const giveUp = async ({ id }: TaskResult, reason: string): Promise<void> => {
  const result = await settleResult(id, 'errored', reason);
  if (result) await deliverResult(result);
};

const ask = async (run: Run, result: TaskResult, accessToken: string, pausesMs: readonly number[]): Promise<void> => {
  const task = await getTask(result.taskId);
  if (!task) return giveUp(result, 'The run task was deleted before it was called.');
  const [payload, hmacKey] = await Promise.all([payloadOf(run, result, accessToken), openHmacKey(task)]);
  const { publicUrl: baseUrl } = environment;
  for (const [failed, pauseMs] of [...pausesMs, undefined].entries()) {
    const failure = await askTask({ url: task.url, hmacKey, payload, baseUrl });
    if (!failure) return acknowledgeResult(result);
    if (failure.final) return giveUp(result, `The run task was not called: ${failure.reason}.`);
    if (pauseMs === undefined) {
      return giveUp(result, `The run task was called ${failed + 1} times without success: ${failure.reason}.`);
    }
    await delay(pauseMs);
    if (await isMoot(result)) return;
  }
};

const stateOf = Object.fromEntries(Object.entries(taskStates).map(([state, stage]) => [stage, state])) as Record<
  TaskStage,
  TaskState
>;

/** Waits for a run task's result: stores the token, and calls the task until it accepts the request. */
export const runTask = async (
  { runId, taskResultId, ...attempt }: RunTaskInput,
  pausesMs = defaultPausesMs,
): Promise<void> => {
  const awaited = await awaitResult(taskResultId, attempt);
  if (!awaited) throw new Error(`run ${runId} has no task result ${taskResultId} for this attempt`);
  const { result, accessToken } = awaited;
  // A cancel that was written before the token could not resume the execution.
  const run = await enterCheck(runId, stateOf[result.stage]);
  if (isOver(run)) {
    await cancelTaskWait(attempt.token, `run ${runId} was canceled`);
    return;
  }
  if (isResultFinal(result.status)) await deliverResult(result);
  else if (!result.acknowledgedAt) await ask(run, result, accessToken, pausesMs);
};

export const handler = (input: RunTaskInput): Promise<void> => runTask(input);
