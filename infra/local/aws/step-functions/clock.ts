/** Time as the service sees it, in milliseconds since 1970; tests bring their own. */
export interface Clock {
  now(): number;
  /** Calls `run` once `ms` have passed, at once when they are not positive. Returns what calls it off. */
  after(ms: number, run: () => void): () => void;
}

/** setTimeout keeps its delay in 31 bits and fires at once beyond; a task may wait for months. */
const maxTimeoutMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, run) {
    const end = performance.now() + ms;
    let timer: NodeJS.Timeout;
    const arm = () => {
      const left = end - performance.now();
      timer = left > maxTimeoutMs ? setTimeout(arm, maxTimeoutMs) : setTimeout(run, Math.max(0, left));
    };
    arm();
    return () => clearTimeout(timer);
  },
};
