import { expect } from 'vitest';
import type { Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';
import type { QueueWorld } from './queue-world.ts';

/** Invariants of a workspace's queue under any order of events. */

/** Invariants at any time: one current run, and none while a user holds the lock. */
export const checkNow = async (world: QueueWorld): Promise<void> => {
  const current = (await world.runs()).filter((run) => run.current && !isFinal(run.status));
  const ids = current.map(({ id }) => id);
  expect(current.length, `current at the same time: ${ids.join(', ')}\n${world.story()}`).toBeLessThanOrEqual(1);
  const { lock } = (await world.workspace()) ?? {};
  if (world.isLocked) expect(lock?.kind, `a run has taken a user's lock\n${world.story()}`).toBe('user');
  if (lock?.kind === 'user') expect(ids, `current while a user holds the lock\n${world.story()}`).toEqual([]);
};

/** First effects follow the order of places; a run at the front was moved there. */
export const checkOrder = (world: QueueWorld, runs: Run[]): void => {
  const started = world.effects.flatMap((id) => runs.find((run) => run.id === id) ?? []);
  started.forEach((run, i) => {
    if (run.place === 0) return;
    const overtaken = started.slice(i + 1).find(({ place = 0 }) => place > 0 && place < (run.place ?? 0));
    if (overtaken) {
      throw new Error(
        `${run.id} (run ${run.number}) overtook ${overtaken.id} (run ${overtaken.number})\n${world.story()}`,
      );
    }
  });
};

/** Numbers and places follow the order of requests. */
export const checkPlaces = (world: QueueWorld, runs: Run[]): void => {
  const numbers = runs.map(({ number }) => number);
  expect(new Set(numbers).size, `two runs with one number\n${world.story()}`).toBe(numbers.length);
  const queued = runs.filter(({ savePlan, place }) => !savePlan && place).sort((a, b) => a.number - b.number);
  const places = queued.map(({ place = 0 }) => place);
  expect(places, 'places in the order of numbers').toEqual([...places].sort((a, b) => a - b));
  for (const run of runs) {
    for (const earlier of runs) {
      const [before, after] = [earlier, run].map(({ id }) => world.creations.find((one) => one.id === id));
      if (!before?.ended || !after || before.ended > after.began) continue;
      expect(earlier.number, `${earlier.id} was there before ${run.id} was requested`).toBeLessThan(run.number);
    }
  }
};

/** When every run has ended, no entry is left. */
export const checkEmpty = async (world: QueueWorld): Promise<void> => {
  expect(await world.entries(), `entries without a run that waits\n${world.story()}`).toEqual([]);
  const { lock } = (await world.workspace()) ?? {};
  expect(lock, `a lock without a run in progress\n${world.story()}`).toBeUndefined();
};
