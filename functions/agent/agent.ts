import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentWork, RegisteredAgent } from '../protocols/agent.ts';
import { retryFor } from '../transport/retry.ts';
import { Client, ForgottenError, messageOf, TokenDeadError, TransportError } from './client.ts';
import { ended, type RunnerEnvironment, startRunner } from './work.ts';

export interface Settings extends RunnerEnvironment {
  token: string;
  name: string;
  /** Ends after one job. */
  single: boolean;
  /** What it does, for whoever watches. */
  say(text: string): void;
}

/** Pauses between questions grow from here to what the control plane asks for: after a plan, an apply is often near. */
const firstPauseMs = 500;
const pauseGrowth = 1.5;
/** How long a call is tried; then it is said that nobody answers, and tried again. */
const callMs = 15_000;
/** That a runner has ended is worth more patience: its run waits for it. */
const overMs = 120_000;
const lastCallMs = 10_000;

/** Does the jobs of an agent pool, one after the other, until it is told to stop or its token is dead. */
export class Agent {
  readonly #settings: Settings;
  readonly #client: Client;
  readonly #instance = randomUUID();
  readonly #stopping = new AbortController();
  #self: RegisteredAgent | undefined;
  #pingedAt = 0;
  #child: ChildProcess | undefined;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#client = new Client(settings.address, settings.token);
  }

  /** The first time: after what it works on. Then: Terraform is interrupted as by Ctrl-C, and still keeps its state. */
  stop(): void {
    const { say } = this.#settings;
    if (!this.#stopping.signal.aborted) {
      const rest = this.#child ? 'after the current run; press again to interrupt it' : 'now';
      say(`Stopping ${rest}.`);
      this.#stopping.abort();
      return;
    }
    if (!this.#child) return;
    say('Interrupting Terraform.');
    this.#child.kill('SIGTERM');
  }

  /** @throws {TokenDeadError} when its token is not good (any more) */
  async run(): Promise<void> {
    let how: 'exited' | 'errored' = 'errored';
    try {
      await this.#ask();
      how = 'exited';
    } finally {
      if (this.#self)
        await this.#client.ping({ agent: this.#self.agent, ended: how }, retryFor(lastCallMs)).catch(() => {});
    }
  }

  async #ask(): Promise<void> {
    const { signal } = this.#stopping;
    let pause = firstPauseMs;
    while (!signal.aborted) {
      const answer = await this.#next();
      if (!answer) continue;
      if (answer.action === 'work') {
        await this.#work(answer.work);
        if (this.#settings.single) return;
        pause = firstPauseMs;
        continue;
      }
      // Not all agents of a pool at the same moment.
      const ms = Math.min(pause, answer.afterMs) * (0.9 + Math.random() / 5);
      await sleep(ms, undefined, { signal }).catch(() => {});
      pause *= pauseGrowth;
    }
  }

  /** Undefined when there is no answer, and to be asked again. */
  async #next() {
    const { name, say } = this.#settings;
    const { signal } = this.#stopping;
    try {
      this.#self ??= await this.#register();
      const { agent, pingSeconds } = this.#self;
      const ping = Date.now() - this.#pingedAt > pingSeconds * 1000;
      const answer = await this.#client.next({ agent, name, ping }, retryFor(callMs, signal));
      if (ping) this.#pingedAt = Date.now();
      return answer;
    } catch (error) {
      if (signal.aborted) return undefined;
      if (error instanceof ForgottenError) this.#self = undefined;
      else if (error instanceof TransportError) say(`Can't reach the platform (${messageOf(error)}). Retrying.`);
      else throw error;
      return undefined;
    }
  }

  async #register(): Promise<RegisteredAgent> {
    const { name, say, address } = this.#settings;
    const self = await this.#client.register(
      { instance: this.#instance, name },
      retryFor(callMs, this.#stopping.signal),
    );
    this.#pingedAt = Date.now();
    say(`Agent ${name} of pool ${self.pool} (${self.organization}) at ${address} is waiting for runs.`);
    return self;
  }

  async #work(work: AgentWork): Promise<void> {
    const { say } = this.#settings;
    const { runId, phase, workspace } = work;
    say(`The ${phase} of ${runId} (workspace ${workspace}) begins.`);
    const child = startRunner(work, this.#settings);
    this.#child = child;
    const pings = this.#pingWhile({ runId, phase });
    const why = await ended(child);
    clearInterval(pings);
    this.#child = undefined;
    say(`The ${phase} of ${runId} ended (${why}).`);
    const agent = this.#self?.agent ?? '';
    // The run goes on without this word too, if later.
    await this.#client
      .over({ agent, job: { runId, phase }, why }, retryFor(overMs))
      .catch((error) => say(messageOf(error)));
    this.#pingedAt = Date.now();
  }

  #pingWhile(job: { runId: string; phase: AgentWork['phase'] }): NodeJS.Timeout {
    const { agent, pingSeconds } = this.#self as RegisteredAgent;
    let dead = false;
    return setInterval(() => {
      if (dead) return;
      this.#client.ping({ agent, job }, retryFor(pingSeconds * 500)).catch((error) => {
        dead = error instanceof TokenDeadError;
        if (dead)
          this.#settings.say(
            'The agent token was revoked or has expired. The current run has its own token and will finish.',
          );
      });
    }, pingSeconds * 1000);
  }
}
