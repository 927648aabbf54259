import { setTimeout as sleep } from 'node:timers/promises';
import { TransportError } from './errors.ts';

export interface RetryBound {
  /** Deadline (ms since the epoch) for retries; read before each pause, because it can move. */
  until: () => number;
  /** Aborts waiting and retries. */
  signal?: AbortSignal;
}

const firstMs = 50;
const maxMs = 5000;

/** Exponential backoff with jitter, so that runners do not reconnect in step. */
const pauseMs = (attempt: number): number => Math.min(maxMs, firstMs * 2 ** attempt) * (0.5 + Math.random() / 2);

/**
 * Retries after a {@link TransportError}; rejects at once for any other error, and on an abort.
 * @throws the last error
 */
export const retrying = async <T>(attempt: () => Promise<T>, { until, signal }: RetryBound): Promise<T> => {
  for (let n = 0; ; n++) {
    signal?.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      if (signal?.aborted || !(error instanceof TransportError)) throw error;
      const ms = pauseMs(n);
      if (Date.now() + ms > until()) throw error;
      await sleep(ms, undefined, { signal });
    }
  }
};

/** Retries for `ms` from now. */
export const retryFor = (ms: number, signal?: AbortSignal): RetryBound => {
  const end = Date.now() + ms;
  return { until: () => end, signal };
};
