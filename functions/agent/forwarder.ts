import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AgentKeys, newAgentKeys, openSealed, sealAnswer } from '../forwarding/box.ts';
import {
  type ForwardedAnswer,
  type ForwardedFailure,
  type ForwardedRequest,
  packAnswer,
} from '../forwarding/messages.ts';
import type { RegisteredAgent, TakenRequest } from '../protocols/agent.ts';
import { retryFor } from '../transport/retry.ts';
import { type Client, ForgottenError, messageOf, TransportError } from './client.ts';
import { performRequest } from './perform.ts';

export interface ForwarderSettings {
  client: Pick<Client, 'register' | 'request' | 'answer' | 'ping'>;
  name: string;
  /** To which requests are sent, and to no others: `https://git.example.com`. */
  origins: string[];
  /** What it does, for whoever watches. */
  say(text: string): void;
}

/** Pauses between questions grow from here to what the control plane asks for: one request is often followed by others. */
const firstPauseMs = 150;
const pauseGrowth = 1.5;
const callMs = 15_000;
const lastCallMs = 10_000;
/** Requests at the same time. */
const maxBusy = 8;

/** Sends requests of the platform to addresses that only this machine reaches. It runs no Terraform. */
export class Forwarder {
  readonly #settings: ForwarderSettings;
  readonly #instance = randomUUID();
  readonly #keys: AgentKeys = newAgentKeys();
  readonly #stopping = new AbortController();
  readonly #busy = new Set<Promise<void>>();
  #self: RegisteredAgent | undefined;
  #pingedAt = 0;

  constructor(settings: ForwarderSettings) {
    this.#settings = settings;
  }

  /** After the requests that it has. */
  stop(): void {
    this.#settings.say('Stopping.');
    this.#stopping.abort();
  }

  /** @throws {TokenDeadError} when its token is not good (any more) @throws {RefusedError} when it is for something else */
  async run(): Promise<void> {
    const { client } = this.#settings;
    let how: 'exited' | 'errored' = 'errored';
    try {
      await this.#ask();
      how = 'exited';
    } finally {
      await Promise.allSettled(this.#busy);
      if (this.#self) await client.ping({ agent: this.#self.agent, ended: how }, retryFor(lastCallMs)).catch(() => {});
    }
  }

  async #ask(): Promise<void> {
    const { signal } = this.#stopping;
    let pause = firstPauseMs;
    while (!signal.aborted) {
      if (this.#busy.size >= maxBusy) await Promise.race(this.#busy);
      const answer = await this.#next();
      if (!answer) continue;
      if (answer.action === 'forward') {
        const work = this.#forward(answer.request).finally(() => this.#busy.delete(work));
        this.#busy.add(work);
        pause = firstPauseMs;
        continue;
      }
      const ms = Math.min(pause, answer.afterMs) * (0.9 + Math.random() / 5);
      await sleep(ms, undefined, { signal }).catch(() => {});
      pause *= pauseGrowth;
    }
  }

  /** Undefined when there is no answer, and to be asked again. */
  async #next() {
    const { client, name, say } = this.#settings;
    const { signal } = this.#stopping;
    try {
      this.#self ??= await this.#register();
      const { agent, pingSeconds } = this.#self;
      const ping = Date.now() - this.#pingedAt > pingSeconds * 1000;
      const { publicKey } = this.#keys;
      const answer = await client.request({ agent, name, ...(ping ? { publicKey } : {}) }, retryFor(callMs, signal));
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
    const { client, name, origins, say } = this.#settings;
    const { publicKey } = this.#keys;
    const body = { instance: this.#instance, name, publicKey };
    const self = await client.register(body, retryFor(callMs, this.#stopping.signal));
    this.#pingedAt = Date.now();
    say(`Agent ${name} of pool ${self.pool} (${self.organization}) forwards requests to ${origins.join(', ')}.`);
    return self;
  }

  async #forward(taken: TakenRequest): Promise<void> {
    const { client, say } = this.#settings;
    const bytes = (text: string): Buffer => Buffer.from(text, 'base64');
    try {
      const sealed = { box: bytes(taken.box), sender: taken.sender, key: bytes(taken.key) };
      const { text, key } = openSealed(this.#keys, taken.id, sealed);
      const answer = await this.#perform(JSON.parse(text) as ForwardedRequest);
      const box = sealAnswer(key, taken.id, packAnswer(answer)).toString('base64');
      const agent = this.#self?.agent ?? '';
      await client.answer({ agent, id: taken.id, box }, retryFor(callMs));
    } catch (error) {
      say(`A request could not be answered: ${messageOf(error)}`);
    }
  }

  /** Told is where it went, never what it said: paths name repositories, queries and bodies are the platform's. */
  async #perform(request: ForwardedRequest): Promise<ForwardedAnswer | ForwardedFailure> {
    const began = Date.now();
    const answer = await performRequest(request, this.#settings.origins);
    const outcome = 'failure' in answer ? answer.message : String(answer.status);
    const where = URL.canParse(request.url) ? new URL(request.url) : undefined;
    this.#settings.say(`${request.method} ${where?.origin}${where?.pathname}: ${outcome}, ${Date.now() - began} ms`);
    return answer;
  }
}
