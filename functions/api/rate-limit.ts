import { logError } from '#platform/store/log.ts';

/**
 * Limits a caller's requests per period of one or more seconds, across all instances of a function (decisions/0013).
 * Each instance admits a share of the limit on its own, and then draws from a common count. A caller that was
 * rejected has no such share for a while.
 */

/** Adds requests to the caller's common count for the period that begins at `second`. Returns the sum. */
export type Count = (caller: string, second: number, requests: number) => Promise<number>;

export interface Admission {
  admitted: boolean;
  limit: number;
  /** Estimate of this instance. */
  remaining: number;
  /** Milliseconds until the period ends. */
  resetMs: number;
}

interface Caller {
  /** Start of the period. */
  second: number;
  used: number;
  /** Number of requests that this instance may admit. */
  granted: number;
  /** Number of its requests in the common count. */
  counted: number;
  others: number;
  /** The common count has reached the limit. */
  spent: boolean;
  /** Time until which the caller has no share, in milliseconds since 1970. */
  strictUntil: number;
  asking?: Promise<void>;
}

/** Number of periods before a rejected caller has a share again. */
const strictTimes = 10;
/** Maximum number of callers in memory, since an instance lives for hours. */
const maxCallers = 10_000;

export class RateLimit {
  readonly #limit: number;
  readonly #share: number;
  readonly #count: Count;
  readonly #seconds: number;
  readonly #callers = new Map<string, Caller>();

  /** @param limit requests per period of `seconds` */
  constructor(limit: number, count: Count, seconds = 1) {
    this.#limit = limit;
    this.#share = Math.ceil(limit / 3);
    this.#count = count;
    this.#seconds = seconds;
  }

  async admit(name: string, now: number): Promise<Admission> {
    const second = Math.floor(now / 1000 / this.#seconds) * this.#seconds;
    const caller = this.#callerIn(name, second, now);
    while (caller.used >= caller.granted && !caller.spent) {
      // One update of the count at a time; concurrent requests wait for its result.
      caller.asking ??= this.#ask(name, caller, now).finally(() => {
        caller.asking = undefined;
      });
      await caller.asking;
    }
    const admitted = caller.used < caller.granted;
    if (admitted) caller.used++;
    else caller.strictUntil = now + strictTimes * this.#seconds * 1000;
    return {
      admitted,
      limit: this.#limit,
      remaining: Math.max(0, this.#limit - caller.others - caller.used),
      resetMs: (caller.second + this.#seconds) * 1000 - now,
    };
  }

  async #ask(name: string, caller: Caller, now: number): Promise<void> {
    // The first update includes the requests that the share admitted.
    const more = caller.granted - caller.counted + (caller.strictUntil > now ? 1 : this.#share);
    let sum: number;
    try {
      sum = await this.#count(name, caller.second, more);
    } catch (error) {
      logError('request counts unavailable; each instance applies the limit on its own', error);
      sum = caller.counted + more;
    }
    caller.counted += more;
    caller.others = sum - caller.counted;
    caller.granted = Math.min(caller.counted, this.#limit - caller.others);
    caller.spent = sum >= this.#limit;
  }

  #callerIn(name: string, second: number, now: number): Caller {
    const before = this.#callers.get(name);
    if (before?.second === second) return before;
    if (!before && this.#callers.size >= maxCallers) this.#forget(second, now);
    const strictUntil = before?.strictUntil ?? 0;
    const granted = strictUntil > now ? 0 : this.#share;
    const caller: Caller = { second, used: 0, granted, counted: 0, others: 0, spent: false, strictUntil };
    this.#callers.set(name, caller);
    return caller;
  }

  #forget(second: number, now: number): void {
    for (const [name, caller] of this.#callers) {
      if (caller.second !== second && caller.strictUntil <= now) this.#callers.delete(name);
    }
  }
}
