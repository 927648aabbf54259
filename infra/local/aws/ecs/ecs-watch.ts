import { isAlive, signal } from '#infra/local/host/processes.ts';
import type { Task } from './ecs-task.ts';

/** How often a process from before a restart is looked at; one that was started here reports its own end. */
const pollMs = 500;
/** What ECS takes when nothing is said. */
const defaultStopSeconds = 30;

/** Timers of tasks: for the end of those that are to stop, and to notice that of those that nobody here started. */
export class TaskWatch {
  readonly #killers = new Map<string, NodeJS.Timeout>();
  readonly #polls = new Map<string, NodeJS.Timeout>();

  /** SIGTERM to the main process; when its time is up, SIGKILL to all that run. */
  terminate({ arn, process: target }: Task, seconds = defaultStopSeconds): void {
    if (!target || this.#killers.has(arn)) return;
    signal(target, 'SIGTERM', 'process');
    const killer = setTimeout(() => signal(target, 'SIGKILL', 'group'), seconds * 1000);
    killer.unref();
    this.#killers.set(arn, killer);
  }

  /** For a process that is no child of this one. */
  poll(task: Task, onGone: () => void): void {
    const poll = setInterval(() => {
      if (!task.process || isAlive(task.process)) return;
      signal(task.process, 'SIGKILL', 'group');
      onGone();
    }, pollMs);
    poll.unref();
    this.#polls.set(task.arn, poll);
  }

  /** It has stopped. */
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
