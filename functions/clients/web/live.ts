import { type Signal, signal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { ApiError, type Resource } from '#clients/client/client.ts';
import type { ResourceType } from '#clients/client/documents.ts';
import { all, errorText } from './session.ts';

/**
 * Polls the visible content as long as it may change: one request at a time for the whole page, rarely while the tab is
 * hidden or idle, with backoff while the platform does not respond.
 */

interface Task {
  /** Performs one request. @returns milliseconds until the next one; undefined: no more */
  run(): Promise<number | undefined>;
  dueAt: number;
  fails: number;
}

const tasks = new Set<Task>();
let timer: ReturnType<typeof setTimeout> | undefined;
let busy = false;

/** Reason why the visible content may be out of date; empty while requests succeed. */
export const trouble = signal('');

const diskFull = 507;

const reasonOf = (error: unknown): string => {
  if (!(error instanceof ApiError)) return 'Can’t reach the server.';
  return error.status === diskFull ? errorText(error) : 'The server responds with errors.';
};

const hiddenMs = 30_000;
/** After this long without user activity, polling slows down to a third. */
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
    const delayMs = await task.run();
    task.fails = 0;
    trouble.value = '';
    if (delayMs !== undefined) task.dueAt = Math.min(task.dueAt, Date.now() + pace(delayMs));
  } catch (error) {
    const refused = error instanceof ApiError && error.status < 500 && error.status !== 429;
    if (!refused) trouble.value = reasonOf(error);
    // Do not retry 4xx: it would fail again.
    if (!refused) task.dueAt = Date.now() + pace(backOff(task.fails++));
  }
};

/** Refreshes everything when the tab becomes visible. */
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
 * The first request starts at once, in parallel with others, so that a page opens quickly.
 * @returns functions to stop it, and to refresh soon
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
  /** Message for the user; only while there is no value. */
  error: string | undefined;
  /** HTTP status of the error. */
  status: number | undefined;
  refresh(): void;
}

/** Poll interval in milliseconds for changes to appear within a second. */
export const pollMs = 800;

type Interval<T> = number | undefined | ((value: T) => number | undefined);

/**
 * A polled value of the API.
 * @param key identifies the value; another key starts over
 * @param every milliseconds until the next request; undefined when the value is final
 */
export const useLive = <T>(key: string, load: () => Promise<T>, every?: Interval<T>): Live<T> => {
  const state = useMemo(
    () => ({ value: signal<T | undefined>(undefined), error: signal<unknown>(undefined), now: () => {} }),
    [key],
  );
  // From the latest render: closures change while the key stays.
  const latest = useRef({ load, every });
  latest.current = { load, every };
  useEffect(() => {
    let last = '';
    const task = repeat(async () => {
      try {
        const value = await latest.current.load();
        // Equal responses cause no render.
        if (value !== state.value.peek()) {
          const text = JSON.stringify(value);
          if (text !== last) state.value.value = value;
          last = text;
        }
        state.error.value = undefined;
        const { every } = latest.current;
        return typeof every === 'function' ? every(value) : every;
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

/** All entries of a list of the API. */
export const useList = <T extends ResourceType>(path: string, every?: number): Live<Resource<T>[]> =>
  useLive(path, async () => (await all<T>(path)).data, every);

/** The current time, for durations that count up on screen. */
export const clock = signal(Date.now());
setInterval(() => {
  if (!document.hidden) clock.value = Date.now();
}, 1_000);
