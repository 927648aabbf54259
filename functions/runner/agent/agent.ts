import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RetryBound, retryFor } from '#platform/net/transport/retry.ts';
import type { AgentWork, RegisteredAgent } from '#run/protocols/agent.ts';
import { sendKeptStates } from '#runner/program/kept-states.ts';
import { Client, messageOf, TokenDeadError } from './client.ts';
import { Connection } from './connection.ts';
import {
  ended,
  keptStatesFolder,
  killRunner,
  type RunnerEnvironment,
  separationProblems,
  startRunner,
} from './work.ts';

export interface Settings extends RunnerEnvironment {
  token: string;
  name: string;
  /** Ends after one job. */
  single: boolean;
  /** Pause between attempts to send a state that a runner kept: its run may have to end first. Default: 15 s. */
  keptPauseMs?: number;
  /** Prints progress for the user. */
  say(text: string): void;
}

/** Polls at this interval after a plan, because its apply often follows soon. */
const firstPauseMs = 500;
const keptPauseMs = 15_000;
/** How long to retry reporting the end of a runner, which its run waits for. */
const overMs = 120_000;

/** Runs the jobs of an agent pool, one at a time, until it is stopped or its token is revoked. */
export class Agent {
  readonly #settings: Settings;
  readonly #client: Client;
  readonly #connection: Connection;
  readonly #stopping = new AbortController();
  #child: ChildProcess | undefined;
  #isSending = false;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#client = new Client(settings.address, settings.token);
    this.#connection = new Connection({
      client: this.#client,
      firstPauseMs,
      stopping: this.#stopping.signal,
      register: (instance, bound) => this.#register(instance, bound),
      say: settings.say,
    });
  }

  /**
   * The first call stops the agent after the current job; the second one interrupts Terraform like Ctrl-C, and
   * Terraform saves its state.
   */
  stop(): void {
    const { say } = this.#settings;
    if (!this.#stopping.signal.aborted) {
      const when = this.#child ? 'after the current run; press again to interrupt it' : 'now';
      say(`Stopping ${when}.`);
      this.#stopping.abort();
      return;
    }
    if (!this.#child) return;
    say('Interrupting Terraform.');
    this.#child.kill('SIGTERM');
  }

  /** @throws {TokenDeadError} if the token was revoked or has expired */
  async run(): Promise<void> {
    for (const line of await separationProblems()) this.#settings.say(line);
    return this.#connection.during(async () => {
      void this.#sendKeptStates();
      await this.#poll();
    });
  }

  /**
   * Sends states that runners on this machine could not upload, one pass at a time, until the platform has all of
   * them.
   */
  async #sendKeptStates(): Promise<void> {
    const { address, say, keptPauseMs: pauseMs = keptPauseMs } = this.#settings;
    if (this.#isSending) return;
    this.#isSending = true;
    const { signal } = this.#stopping;
    while ((await sendKeptStates(address, keptStatesFolder(), say)) > 0 && !signal.aborted)
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {});
    this.#isSending = false;
  }

  async #poll(): Promise<void> {
    const { name } = this.#settings;
    while (!this.#stopping.signal.aborted) {
      const answer = await this.#connection.next((agent, ping, bound) =>
        this.#client.next({ agent, name, ping }, bound),
      );
      if (!answer) continue;
      if (answer.action === 'work') {
        await this.#work(answer.work);
        if (this.#settings.single) return;
        this.#connection.resetPause();
      } else await this.#connection.pause(answer.afterMs);
    }
  }

  async #register(instance: string, bound: RetryBound): Promise<RegisteredAgent> {
    const { name, say, address } = this.#settings;
    const self = await this.#client.register({ instance, name }, bound);
    say(`Agent ${name} of pool ${self.pool} (${self.organization}) at ${address} is waiting for runs.`);
    return self;
  }

  async #work(work: AgentWork): Promise<void> {
    const { say } = this.#settings;
    const { runId, phase, workspace } = work;
    say(`The ${phase} of ${runId} (workspace ${workspace}) starts.`);
    const child = startRunner(work, this.#settings);
    this.#child = child;
    const pings = this.#pingWhile({ runId, phase }, () => {
      say(`The runner of the ${phase} of ${runId} hangs: killing it.`);
      killRunner(child);
    });
    const outcome = await ended(child);
    clearInterval(pings);
    this.#child = undefined;
    say(`The ${phase} of ${runId} ended (${outcome}).`);
    const agent = this.#connection.self?.agent ?? '';
    // Without this report the run also continues, but later.
    await this.#client
      .over({ agent, job: { runId, phase }, why: outcome }, retryFor(overMs))
      .catch((error) => say(messageOf(error)));
    this.#connection.pinged();
    void this.#sendKeptStates();
  }

  /** @param kill called when the platform reports that the runner hangs */
  #pingWhile(job: { runId: string; phase: AgentWork['phase'] }, kill: () => void): NodeJS.Timeout {
    const { agent, pingSeconds } = this.#connection.self as RegisteredAgent;
    let dead = false;
    return setInterval(() => {
      if (dead) return;
      this.#client.ping({ agent, job }, retryFor(pingSeconds * 500)).then(
        (answer) => answer.kill && kill(),
        (error) => {
          dead = error instanceof TokenDeadError;
          if (dead)
            this.#settings.say(
              'The agent token was revoked or has expired. The current run has its own token and will finish.',
            );
        },
      );
    }, pingSeconds * 1000);
  }
}
