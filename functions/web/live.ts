import { type Signal, signal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { ApiError } from '../client/client.ts';
import { errorText } from './session.ts';

/**
 * What is on screen is asked for again as long as it may change: one request at a time for the whole page, seldom while
 * the tab is hidden or nobody has touched it for a while, and ever more slowly while the platform does not answer.
 */

interface Task {
  /** Performs one request and says in how many milliseconds to do so again; undefined: never. */
  run(): Promise<number | undefined>;
  dueAt: number;
  fails: number;
}

const tasks = new Set<Task>();
let timer: ReturnType<typeof setTimeout> | undefined;
let busy = false;

/** True while the platform does not answer. */
export const unreachable = signal(false);

const hiddenMs = 30_000;
/** Without a sign of the reader for this long, everything is asked for a third as often. */
const idleAfterMs = 5 * 60_000;
let touchedAt = Date.now();

const pace = (ms: number): number => {
  if (document.hidden) return Math.max(ms, hiddenMs);
  return Date.now() - touchedAt > idleAfterMs ? ms * 3 : ms;
};

const backOff = (fails: number): number => Math.min(30_000, 1_000 * 2 ** Math.min(fails, 5));

const plan = (): void => {
  clearTimeout(timer);
  if (busy || tasks.size === 0) return;
  const next = Math.min(...[...tasks].map(({ dueAt }) => dueAt));
  if (next === Number.POSITIVE_INFINITY) return;
  timer = setTimeout(turn, Math.max(0, next - Date.now()));
};

const turn = async (): Promise<void> => {
  const now = Date.now();
  const [task] = [...tasks].filter(({ dueAt }) => dueAt <= now).sort((a, b) => a.dueAt - b.dueAt);
  if (!task) return plan();
  busy = true;
  await perform(task);
  busy = false;
  plan();
};

const perform = async (task: Task): Promise<void> => {
  task.dueAt = Number.POSITIVE_INFINITY;
  try {
    const again = await task.run();
    task.fails = 0;
    unreachable.value = false;
    if (again !== undefined) task.dueAt = Math.min(task.dueAt, Date.now() + pace(again));
  } catch (error) {
    const refused = error instanceof ApiError && error.status < 500 && error.status !== 429;
    if (!refused) unreachable.value = true;
    // What is refused is refused again; a missing thing stays missing.
    if (!refused) task.dueAt = Date.now() + pace(backOff(task.fails++));
  }
};

/** Everything at once, when the tab is visible again. */
const wake = (): void => {
  touchedAt = Date.now();
  if (document.hidden) return;
  for (const task of tasks) if (task.dueAt !== Number.POSITIVE_INFINITY) task.dueAt = Date.now();
  plan();
};

export const keepWatch = (): void => {
  document.addEventListener('visibilitychange', wake);
  addEventListener('online', wake);
  for (const sign of ['pointerdown', 'keydown', 'scroll']) {
    addEventListener(
      sign,
      () => {
        const slept = Date.now() - touchedAt > idleAfterMs;
        touchedAt = Date.now();
        if (slept) wake();
      },
      { passive: true, capture: true },
    );
  }
};

/**
 * The first time is at once: whoever opens a page does not wait for one answer after the other.
 * @returns how to stop it, and how to have it done soon
 */
export const repeat = (run: Task['run']): { stop(): void; now(): void } => {
  const task: Task = { run, dueAt: Number.POSITIVE_INFINITY, fails: 0 };
  tasks.add(task);
  perform(task).then(plan);
  return {
    stop: () => {
      tasks.delete(task);
      plan();
    },
    now: () => {
      task.dueAt = Date.now();
      plan();
    },
  };
};

export interface Live<T> {
  value: T | undefined;
  /** In the reader's words; only while there is no value. */
  error: string | undefined;
  /** HTTP status of the error. */
  status: number | undefined;
  refresh(): void;
}

/** How often what is asked for again and again is, for a change to be on screen within a second. */
export const pollInterval = (): number => 800;

/**
 * A value of the API on screen.
 * @param key what it is of; another key starts over
 * @param every milliseconds until it is asked for again; undefined when it will not change any more
 */
export const useLive = <T>(key: string, load: () => Promise<T>, every: (value: T) => number | undefined): Live<T> => {
  const state = useMemo(
    () => ({ value: signal<T | undefined>(undefined), error: signal<unknown>(undefined), now: () => {} }),
    [key],
  );
  // As the latest render has them: what they close over changes while the key stays.
  const latest = useRef({ load, every });
  latest.current = { load, every };
  useEffect(() => {
    let last = '';
    const task = repeat(async () => {
      try {
        const value = await latest.current.load();
        // Equal answers change nothing on screen.
        if (value !== state.value.peek()) {
          const text = JSON.stringify(value);
          if (text !== last) state.value.value = value;
          last = text;
        }
        state.error.value = undefined;
        return latest.current.every(value);
      } catch (error) {
        if (state.value.value === undefined) state.error.value = error;
        throw error;
      }
    });
    state.now = task.now;
    return task.stop;
  }, [key]);
  const error = (state.error as Signal<unknown>).value;
  return {
    value: state.value.value,
    error: error === undefined ? undefined : errorText(error),
    status: error instanceof ApiError ? error.status : undefined,
    refresh: () => state.now(),
  };
};

/** The time, for durations that run on screen. */
export const clock = signal(Date.now());
setInterval(() => {
  if (!document.hidden) clock.value = Date.now();
}, 1_000);
