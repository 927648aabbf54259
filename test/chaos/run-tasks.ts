import { setTimeout as sleep } from 'node:timers/promises';
import type { TaskPayload } from '#run/task-payload.ts';
import { startTaskServer, status, type TaskServer } from '#test/support/task-server.ts';
import type { Model } from './model.ts';
import { Chance } from './seeded-random.ts';
import type { Tally } from './tally.ts';

/**
 * Run tasks that pass or fail, and call back twice, late or never, decided by the seed for each run, stage and task.
 */

const manners = {
  passes: 12,
  'passes twice': 3,
  'passes late': 3,
  fails: 2,
  'fails, then passes': 2,
  'says nothing': 1,
};

/** @param url current URL of the platform: it may have moved since the call */
const callBack = async (payload: TaskPayload, status: 'passed' | 'failed', url: string): Promise<number> => {
  const { pathname, search } = new URL(payload.task_result_callback_url);
  const response = await fetch(new URL(pathname + search, url), {
    method: 'PATCH',
    headers: { authorization: `Bearer ${payload.access_token}`, 'content-type': 'application/vnd.api+json' },
    body: JSON.stringify({ data: { type: 'task-results', attributes: { status: status, message: status } } }),
  });
  await response.arrayBuffer();
  return response.status;
};

export const startTasks = async (seed: number, model: Model, tally: Tally, url: () => string): Promise<TaskServer> => {
  const server = await startTaskServer();

  /** Retries a few times like an integration, until the callback is accepted or rejected. */
  const say = async (payload: TaskPayload, status: 'passed' | 'failed'): Promise<void> => {
    const verdict = model.verdict(payload, status);
    for (let tries = 0; tries < 4; tries++) {
      const answer = await callBack(payload, status, url()).catch(() => 0);
      if (answer === 200) verdict.taken = true;
      if (answer >= 200 && answer < 500) return;
      await sleep(1000);
    }
  };

  const work = async (payload: TaskPayload, path: string): Promise<void> => {
    const chance = Chance.of(seed, model.numberOf(payload.run_id), payload.stage, path);
    const manner = chance.weighted(manners);
    tally.note(`run task ${manner}`, `${payload.run_id} ${payload.stage}`);
    switch (manner) {
      case 'passes':
        return say(payload, 'passed');
      case 'passes twice':
        await Promise.all([say(payload, 'passed'), say(payload, 'passed')]);
        return;
      case 'passes late':
        await sleep(chance.between(1000, 15_000));
        return say(payload, 'passed');
      case 'fails':
        return say(payload, 'failed');
      case 'fails, then passes':
        await say(payload, 'failed');
        return say(payload, 'passed');
    }
  };

  server.answer = async (request, response) => {
    status(200)(request, response);
    if (request.payload.access_token !== 'test-token') await work(request.payload, request.path);
  };
  return server;
};
