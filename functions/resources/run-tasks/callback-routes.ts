import { type Answer, ok } from '#api/answer.ts';
import { conflict, unauthorized, unavailable, unprocessable } from '#api/errors.ts';
import { limits } from '#api/limits.ts';
import type { ApiRequest } from '#api/request.ts';
import { openRoute, type Route } from '#api/route.ts';
import { deliverResult, extendWait } from '#resources/runs/execution.ts';
import type { Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';
import { decideCallback } from '#run/task-callback.ts';
import { authenticateTask } from './authenticate-task.ts';
import { readCallback, type TaskCallback } from './callback-input.ts';
import { keepOutcomes, maxOutcomeBytes, maxOutcomes } from './outcomes.ts';
import { changeTaskResult, getTaskResult, type TaskResult } from './results.ts';
import { taskResultDocument } from './stage-document.ts';

/** The callbacks of run tasks. The request's access token names run and task. */

const pointer = '/data/relationships/outcomes/data';

/** The attributes to write; outcomes are stored first. */
const changeOf = async (result: TaskResult, { message, url, outcomes }: TaskCallback) => {
  if (outcomes.length === 0) return { message, url };
  const stored = await keepOutcomes(result, outcomes);
  if ('tooMany' in stored) {
    throw unprocessable(
      pointer,
      `outcomes: a task result has at most ${maxOutcomes}, these would make ${stored.tooMany}`,
    );
  }
  if ('tooLarge' in stored) {
    throw unprocessable(pointer, `outcomes: a task result can have at most ${maxOutcomeBytes} bytes of outcomes`);
  }
  return { message, url, ...stored };
};

/** Concurrent callbacks, or one at the time limit, can conflict; a few retries are enough. */
const maxTries = 10;

const record = async (id: string, run: Run | undefined, callback: TaskCallback): Promise<TaskResult> => {
  const runIsOver = !run || run.cancel !== undefined || isFinal(run.status);
  for (let n = 0; n < maxTries; n++) {
    const result = await getTaskResult(id);
    if (!result) throw unauthorized();
    const decision = decideCallback(result.status, callback.status, { runIsOver });
    if (decision === 'repeat') return result;
    if (decision === 'conflict') {
      throw conflict(
        `Task result ${id} is already ${result.status} and cannot be changed${result.message ? `: ${result.message}` : '.'}`,
      );
    }
    const status = decision === 'unreachable' ? 'unreachable' : callback.status;
    const changed = await changeTaskResult(result, status, await changeOf(result, callback));
    if (changed) return changed;
  }
  throw unavailable(`Too many callbacks for task result ${id} came at the same time. Retry.`);
};

const callback = async (request: ApiRequest): Promise<Answer> => {
  const { result, run } = await authenticateTask(request);
  if (request.params.result !== result.id) throw unauthorized();
  const recorded = await record(result.id, run, readCallback(request));
  if (recorded.status === 'running' && recorded.token) await extendWait(recorded.token);
  // The first attempt may have been interrupted after its write, before this step. The result of an unreachable task
  // resumes no execution.
  else if (recorded.status !== 'unreachable') await deliverResult(recorded);
  return ok(taskResultDocument(recorded, run));
};

export const taskCallbackRoutes: Route[] = [
  { ...openRoute('PATCH', '/task-results/{result}/callback', 'anyone', callback), maxBytes: limits.state },
];
