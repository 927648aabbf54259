import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RetryBound, retryFor } from '#platform/net/transport/retry.ts';
import type { RegisteredAgent } from '#run/protocols/agent.ts';
import { type Client, ForgottenError, messageOf, TransportError } from './client.ts';

export interface ConnectionSettings {
  client: Pick<Client, 'ping'>;
  /** Pauses between polls grow from this to the control plane's maximum. */
  firstPauseMs: number;
  /** Ends polling. */
  stopping: AbortSignal;
  /** @param instance chosen by the agent, for as long as it runs */
  register(instance: string, bound: RetryBound): Promise<RegisteredAgent>;
  /** Prints progress for the user. */
  say(text: string): void;
}

const pauseGrowth = 1.5;
/** How long a call is retried before its failure is printed and the call starts again. */
const callMs = 15_000;
const lastCallMs = 10_000;

/** An agent's connection to the control plane: registers, polls for work, sends heartbeats, and signs off. */
export class Connection {
  readonly #settings: ConnectionSettings;
  readonly #instance = randomUUID();
  #self: RegisteredAgent | undefined;
  #pingedAt = 0;
  #pauseMs: number;

  constructor(settings: ConnectionSettings) {
    this.#settings = settings;
    this.#pauseMs = settings.firstPauseMs;
  }

  /** Undefined before the first registration. */
  get self(): RegisteredAgent | undefined {
    return this.#self;
  }

  /** Call it after each call that counts as a heartbeat. */
  pinged(): void {
    this.#pingedAt = Date.now();
  }

  /** Calls `work`, and signs the agent off after it has ended. @throws the error of `work` */
  async during(work: () => Promise<void>): Promise<void> {
    let reason: 'exited' | 'errored' = 'errored';
    try {
      await work();
      reason = 'exited';
    } finally {
      const { client } = this.#settings;
      if (this.#self)
        await client.ping({ agent: this.#self.agent, ended: reason }, retryFor(lastCallMs)).catch(() => {});
    }
  }

  /**
   * Polls once, after registering if necessary.
   * @param poll `ping`: the call must count as a heartbeat too
   * @returns undefined if there was no response: poll again
   * @throws {TokenDeadError, RefusedError}
   */
  async next<T>(poll: (agent: string, ping: boolean, bound: RetryBound) => Promise<T>): Promise<T | undefined> {
    const { say, stopping } = this.#settings;
    try {
      this.#self ??= await this.#register();
      const { agent, pingSeconds } = this.#self;
      const ping = Date.now() - this.#pingedAt > pingSeconds * 1000;
      const answer = await poll(agent, ping, retryFor(callMs, stopping));
      if (ping) this.pinged();
      return answer;
    } catch (error) {
      if (stopping.aborted) return undefined;
      if (error instanceof ForgottenError) this.#self = undefined;
      else if (error instanceof TransportError) say(`Can't reach the platform (${messageOf(error)}). Retrying.`);
      else throw error;
      return undefined;
    }
  }

  async #register(): Promise<RegisteredAgent> {
    const self = await this.#settings.register(this.#instance, retryFor(callMs, this.#settings.stopping));
    this.pinged();
    return self;
  }

  /** Waits before the next poll: longer each time, at most `maxMs`. */
  async pause(maxMs: number): Promise<void> {
    // Jitter, so that a pool's agents do not poll at the same moment.
    const ms = Math.min(this.#pauseMs, maxMs) * (0.9 + Math.random() / 5);
    await sleep(ms, undefined, { signal: this.#settings.stopping }).catch(() => {});
    this.#pauseMs *= pauseGrowth;
  }

  /** Shortens the next pauses: after work, more is likely. */
  resetPause(): void {
    this.#pauseMs = this.#settings.firstPauseMs;
  }
}
