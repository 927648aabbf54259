/** The service's time, in milliseconds since 1970; tests bring their own. */
export interface Clock {
  now(): number;
  /** Calls `run` after `ms`, at once if they are not positive. Returns a function that cancels the timer. */
  after(ms: number, run: () => void): () => void;
}

/** setTimeout stores its delay in 31 bits and fires at once beyond that; a task may wait for months. */
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
