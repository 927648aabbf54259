import { logError } from '#platform/store/log.ts';

/**
 * Requests of one caller within one second of the clock, or several, over all instances of a function that answer them
 * (decisions/0013): an instance lets a share of the limit pass on its own, and from there on takes from a common count.
 * Whoever was refused has no share for a while.
 */

/** Adds to what a caller has used of the time that begins with a second, and answers the sum. */
export type Count = (caller: string, second: number, requests: number) => Promise<number>;

export interface Admission {
  admitted: boolean;
  limit: number;
  /** As far as this instance knows. */
  remaining: number;
  /** Milliseconds until the time is over that is counted. */
  resetMs: number;
}

interface Caller {
  /** The first one that is counted. */
  second: number;
  used: number;
  /** How many this instance may let pass, as far as it has asked. */
  granted: number;
  /** How many of them are in the common count. */
  counted: number;
  others: number;
  /** Nothing is left in the common count. */
  spent: boolean;
  /** Without a share of its own until then, in milliseconds since 1970. */
  strictUntil: number;
  asking?: Promise<void>;
}

/** How often the counted time passes before a caller that was refused has a share again. */
const strictTimes = 10;
/** Callers an instance remembers; an instance lives for hours. */
const maxCallers = 10_000;

export class RateLimit {
  readonly #limit: number;
  readonly #share: number;
  readonly #count: Count;
  readonly #seconds: number;
  readonly #callers = new Map<string, Caller>();

  /** @param limit requests within so many seconds */
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
      // One question at a time: what comes meanwhile waits for its answer.
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
    // What passed without a question is counted with the first one.
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
