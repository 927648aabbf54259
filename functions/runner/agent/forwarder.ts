import { type AgentKeys, newAgentKeys, openSealed, sealAnswer } from '#platform/net/forwarding/box.ts';
import {
  type ForwardedAnswer,
  type ForwardedFailure,
  type ForwardedRequest,
  packAnswer,
} from '#platform/net/forwarding/messages.ts';
import { isLoopback } from '#platform/net/transport/plain-http.ts';
import { type RetryBound, retryFor } from '#platform/net/transport/retry.ts';
import type { RegisteredAgent, TakenRequest } from '#run/protocols/agent.ts';
import { type Client, messageOf, RefusedError } from './client.ts';
import { Connection } from './connection.ts';
import { performRequest } from './perform.ts';

export interface ForwarderSettings {
  client: Pick<Client, 'register' | 'request' | 'answer' | 'ping'>;
  name: string;
  /** Base URL of the platform. */
  address: string;
  /** The only origins that requests are sent to: `https://git.example.com`. */
  origins: string[];
  /** Prints progress for the user. */
  say(text: string): void;
}

/** One request is often followed by others. */
const firstPauseMs = 150;
/** How long to retry sending a response. */
const answerMs = 15_000;
/** Parallel requests. */
const maxBusy = 8;

const amazonS3 = /^[a-z0-9.-]+\.s3\.[a-z0-9-]+\.amazonaws\.com(\.cn)?$/;

/**
 * Origin that uploads may go to. With another one, the platform could make the agent send private code there.
 * @throws {RefusedError}
 */
const storageOf = (address: string, storage: string): string => {
  const [home, url] = [new URL(address), URL.canParse(storage) ? new URL(storage) : undefined];
  const isOnS3 = url?.protocol === 'https:' && amazonS3.test(url.hostname);
  const isHome = url?.hostname === home.hostname && (url.protocol === 'https:' || home.protocol === 'http:');
  const isAtHome = url && (isHome || (isLoopback(url) && isLoopback(home)));
  if (url && (isOnS3 || isAtHome)) return url.origin;
  throw new RefusedError(`its storage, ${storage}, is neither on Amazon S3 nor on its own host`, 200);
};

/** Forwards the platform's requests to addresses that only this machine can reach. Runs no Terraform. */
export class Forwarder {
  readonly #settings: ForwarderSettings;
  readonly #connection: Connection;
  readonly #keys: AgentKeys = newAgentKeys();
  readonly #stopping = new AbortController();
  readonly #busy = new Set<Promise<void>>();
  /** Stays the same for as long as the agent runs. */
  #storage: string | undefined;

  constructor(settings: ForwarderSettings) {
    this.#settings = settings;
    this.#connection = new Connection({
      client: settings.client,
      firstPauseMs,
      stopping: this.#stopping.signal,
      register: (instance, bound) => this.#register(instance, bound),
      say: settings.say,
    });
  }

  /** Stops after the current requests. */
  stop(): void {
    this.#settings.say('Stopping.');
    this.#stopping.abort();
  }

  /**
   * @throws {TokenDeadError} if the token was revoked or has expired
   * @throws {RefusedError} if the token is for agents that run Terraform
   */
  run(): Promise<void> {
    return this.#connection.during(async () => {
      try {
        await this.#poll();
      } finally {
        await Promise.allSettled(this.#busy);
      }
    });
  }

  async #poll(): Promise<void> {
    const { client, name } = this.#settings;
    const { publicKey } = this.#keys;
    while (!this.#stopping.signal.aborted) {
      if (this.#busy.size >= maxBusy) await Promise.race(this.#busy);
      const answer = await this.#connection.next((agent, ping, bound) =>
        client.request({ agent, name, ...(ping ? { publicKey } : {}) }, bound),
      );
      if (!answer) continue;
      if (answer.action === 'forward') {
        const work = this.#forward(answer.request).finally(() => this.#busy.delete(work));
        this.#busy.add(work);
        this.#connection.resetPause();
      } else await this.#connection.pause(answer.afterMs);
    }
  }

  async #register(instance: string, bound: RetryBound): Promise<RegisteredAgent> {
    const { address, client, name, origins, say } = this.#settings;
    const self = await client.register({ instance, name, publicKey: this.#keys.publicKey }, bound);
    this.#storage ??= storageOf(address, self.storage);
    say(
      `Agent ${name} of pool ${self.pool} (${self.organization}) forwards requests to ${origins.join(', ')}, and uploads to ${this.#storage}.`,
    );
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
      const agent = this.#connection.self?.agent ?? '';
      await client.answer({ agent, id: taken.id, box }, retryFor(answerMs));
    } catch (error) {
      say(`A request failed: ${messageOf(error)}`);
    }
  }

  /** Prints the address only: queries and bodies may be confidential. */
  async #perform(request: ForwardedRequest): Promise<ForwardedAnswer | ForwardedFailure> {
    const began = Date.now();
    const answer = await performRequest(request, { origins: this.#settings.origins, storage: this.#storage });
    const outcome = 'failure' in answer ? answer.message : String(answer.status);
    const where = URL.canParse(request.url) ? new URL(request.url) : undefined;
    this.#settings.say(`${request.method} ${where?.origin}${where?.pathname}: ${outcome}, ${Date.now() - began} ms`);
    return answer;
  }
}
