import { applyChanges, changesBetween } from '#platform/formats/state-changes.ts';
import { messageOf, RefusedError } from '#platform/net/transport/errors.ts';
import type { RetryBound } from '#platform/net/transport/retry.ts';
import { maxInlineStateBytes, type StateChangesRequest } from '#run/protocols/runner.ts';
import type { Client } from './client.ts';

/**
 * Snapshots of a large state. Storing each complete state would need quadratic time and bytes, so most snapshots
 * contain only changes. The control plane applies them if the runner ends without a last snapshot; other readers see
 * complete states only.
 */

/** Smaller states are always stored completely. */
const smallBytes = 16 * 1024;
/** A complete state replaces changes that add up to this many times its size. */
const growth = 2;
/** Maximum age of the newest complete state, which other readers get; it also limits the chain of changes. */
const wholeMs = 3 * 60_000;

interface State {
  content: Buffer;
  md5: string;
}

export class StateChanges {
  readonly #client: Client;
  /** The control plane's newest state, if any. */
  #base: State | undefined;
  #isFirst = true;
  #wholeBytes = 0;
  #changedBytes = 0;
  #wholeAt = Date.now();
  #refused = false;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Call it when the control plane has this complete state. */
  startFrom({ content, md5 }: State): void {
    this.#base = { content, md5 };
    this.#isFirst = true;
    this.#wholeBytes = content.length;
    this.#changedBytes = 0;
    this.#wholeAt = Date.now();
  }

  /** Whether the newest state is stored only as changes. */
  get isAhead(): boolean {
    return !this.#isFirst;
  }

  /** @returns false if the complete state must be stored instead */
  async store({ content, md5 }: State, patience: RetryBound): Promise<boolean> {
    const base = this.#base;
    if (!base || this.#refused || content.length <= smallBytes || Date.now() - this.#wholeAt > wholeMs) return false;
    const changes = changesBetween(base.content, content);
    if (changes.length > maxInlineStateBytes || this.#changedBytes > growth * this.#wholeBytes) return false;
    if (!applyChanges(base.content, changes, content.length).equals(content)) return false;
    const request: StateChangesRequest = {
      before: base.md5,
      first: this.#isFirst,
      changes: changes.toString('base64'),
    };
    try {
      await this.#client.storeStateChanges(request, patience);
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      console.error(`changes of the state are not taken, so it is stored as a whole: ${messageOf(error)}`);
      this.#refused = true;
      return false;
    }
    this.#changedBytes += Math.abs(content.length - base.content.length) + changes.length;
    this.#base = { content, md5 };
    this.#isFirst = false;
    return true;
  }
}
