import { isAlive, signal } from '#infra/local/host/processes.ts';
import type { Task } from './ecs-task.ts';

/** Interval of checks on a process from before a restart; the end of a child process is reported by the system. */
const pollMs = 500;
/** ECS's default. */
const defaultStopSeconds = 30;

/** Timers of tasks: to stop tasks, and to notice the end of tasks that another process started. */
export class TaskWatch {
  readonly #killers = new Map<string, NodeJS.Timeout>();
  readonly #polls = new Map<string, NodeJS.Timeout>();

  /** Sends SIGTERM to the main process and, after the stop timeout, SIGKILL to the whole group. */
  terminate({ arn, process: target }: Task, seconds = defaultStopSeconds): void {
    if (!target || this.#killers.has(arn)) return;
    signal(target, 'SIGTERM', 'process');
    const killer = setTimeout(() => signal(target, 'SIGKILL', 'group'), seconds * 1000);
    killer.unref();
    this.#killers.set(arn, killer);
  }

  /** Waits for the end of a process that is not a child of this one, and then kills the rest of its group. */
  poll(task: Task, onGone: () => void): void {
    const poll = setInterval(() => {
      if (!task.process || isAlive(task.process)) return;
      signal(task.process, 'SIGKILL', 'group');
      onGone();
    }, pollMs);
    poll.unref();
    this.#polls.set(task.arn, poll);
  }

  /** Clears the timers of a stopped task. */
  end({ arn }: Task): void {
    clearTimeout(this.#killers.get(arn));
    clearInterval(this.#polls.get(arn));
    this.#killers.delete(arn);
    this.#polls.delete(arn);
  }

  close(): void {
    for (const timer of this.#killers.values()) clearTimeout(timer);
    for (const timer of this.#polls.values()) clearInterval(timer);
  }
}
