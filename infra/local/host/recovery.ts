import { setTimeout as sleep } from 'node:timers/promises';
import type { InvokeResult } from '#infra/local/aws/lambda/sandbox.ts';
import type { Recovered } from '#lifecycle/recovery/handler.ts';
import { markRecovered, markRestored } from './data-format.ts';
import { StartError } from './errors.ts';
import type { Folder } from './folder.ts';

export interface RecoveryOptions {
  folder: Folder;
  /** The time that the user gave, otherwise the time that the restore recorded. UTC, ISO 8601. */
  recoverTo: string | undefined;
  invoke(payload: string): Promise<InvokeResult>;
  log(line: string): void;
}

/** Requests of runners are served during a recovery, so that ending runners can store their states. */
const ofRunners = '/runner/';
const pauseMs = 1000;
const agentPauseMs = 10_000;

/**
 * The first step of a start on restored data: ends the runs that were in progress at that time
 * (functions/lifecycle/recovery/), so that no old plan is applied and no new plan starts from an old state. Until then
 * nothing resumes, and users' requests get 503.
 */
export class Recovery {
  readonly #options: RecoveryOptions;
  readonly #time: string | undefined;
  #isOver: boolean;

  constructor(options: RecoveryOptions) {
    const { folder, recoverTo } = options;
    this.#options = options;
    this.#time = recoverTo ?? folder.marker?.recoverTo;
    this.#isOver = this.#time === undefined;
    // The next start resumes an interrupted recovery.
    if (recoverTo && folder.marker?.used) markRestored(folder.path, recoverTo);
  }

  /** Why a path is not available now. */
  refusal(path: string): string | undefined {
    if (this.#isOver || path.startsWith(ofRunners)) return undefined;
    return `The data was restored to ${this.#time}. Runs that were in progress are being ended; try again in two minutes.`;
  }

  /** @throws StartError for an invalid time, or if the recovery fails */
  async run(): Promise<void> {
    if (this.#isOver) return;
    let report = await this.#attempt();
    for (; report.runnersStopping > 0; report = await this.#attempt()) await sleep(pauseMs);
    this.#isOver = true;
    if (report.done) this.#end();
    // Requests are served from now on, so that runners of agents learn from their next one that their run has ended.
    // These runs keep their workspaces locked.
    else void this.#awaitAgents();
  }

  async #attempt(): Promise<Recovered> {
    const { failure, payload } = await this.#options.invoke(JSON.stringify({ restoredTo: this.#time }));
    if (failure)
      throw new StartError(
        `the runs from before ${this.#time} could not be ended: ${failure.errorMessage}. Start again with --recovered-to <time>, e.g. 2026-01-31T08:00:00Z`,
      );
    this.#options.log(`recovery to ${this.#time}: ${payload}`);
    return JSON.parse(payload) as Recovered;
  }

  async #awaitAgents(): Promise<void> {
    try {
      while (!(await this.#attempt()).done) await sleep(agentPauseMs, undefined, { ref: false });
      this.#end();
    } catch (error) {
      // The next start resumes the recovery.
      this.#options.log(`recovery to ${this.#time} failed: ${(error as Error).message}`);
    }
  }

  #end(): void {
    markRecovered(this.#options.folder.path);
  }
}
