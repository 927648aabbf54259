import { AsyncLocalStorage } from 'node:async_hooks';
import type { Aws, Failing } from './aws.ts';

/** A task that runs concurrently with others, call by call. */
export interface Task {
  /** Interrupts the n-th call to AWS (1 is the first). */
  cut?: { n: number; when: Failing } | undefined;
  /** Before the n-th call it freezes until this many further tasks have begun. */
  freeze?: { n: number; tasks: number } | undefined;
  work(): Promise<unknown>;
}

interface Running {
  task: Task;
  calls: number;
  begun: number;
  /** Releases its calls. */
  waiting: (() => void)[];
}

/** Work that makes no further call in this many turns of the event loop is waiting for a held call, or has ended. */
const idleTurns = 2;
const maxAtOnce = 4;

const idle = async (): Promise<void> => {
  for (let turn = 0; turn < idleTurns; turn++) await new Promise((resolve) => setImmediate(resolve));
};

/**
 * Starts tasks one after another while earlier ones are in progress, and lets their calls to AWS through one by one, in
 * a random order.
 * @param between called while every task waits for a call, before each task starts
 * @returns number of interrupted calls
 */
export const staggered = async (
  aws: Aws,
  choices: Iterator<number>,
  tasks: Task[],
  between: () => Promise<void>,
): Promise<number> => {
  const inTask = new AsyncLocalStorage<Running>();
  const running = new Set<Running>();
  const failures: unknown[] = [];
  let begun = 0;
  let cuts = 0;
  aws.gate = async () => {
    const own = inTask.getStore();
    if (!own) return;
    await new Promise<void>((resolve) => void own.waiting.push(resolve));
  };
  const begin = (task: Task): void => {
    const own: Running = { task, calls: 0, begun: ++begun, waiting: [] };
    running.add(own);
    inTask
      .run(own, task.work)
      .catch((error) => void failures.push(error))
      .finally(() => running.delete(own));
  };
  const isFrozen = ({ task: { freeze }, calls, begun: own }: Running): boolean =>
    freeze !== undefined && calls + 1 === freeze.n && begun < Math.min(tasks.length, own + freeze.tasks);
  const letThrough = (own: Running): void => {
    const { waiting, task } = own;
    const through = waiting.splice(choices.next().value % waiting.length, 1)[0];
    own.calls++;
    if (task.cut?.n === own.calls) {
      aws.failCall(1, task.cut.when);
      cuts++;
    }
    through?.();
  };
  while (begun < tasks.length || running.size > 0) {
    await idle();
    const ready = [...running].filter((own) => own.waiting.length > 0 && !isFrozen(own));
    const mayBegin = begun < tasks.length && (ready.length < maxAtOnce || running.size === 0);
    const drawn = choices.next().value % Math.max(1, ready.length + (mayBegin ? 1 : 0));
    const chosen = ready[drawn];
    if (chosen) letThrough(chosen);
    else if (mayBegin) {
      await between();
      begin(tasks[begun] as Task);
    }
  }
  aws.gate = undefined;
  aws.failCall(0, 'before');
  if (failures.length) throw failures[0];
  return cuts;
};
