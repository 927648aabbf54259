import { ApiError } from '#clients/client/client.ts';

/** How long a watch retries while the platform is unreachable, in ms. */
const unreachableTimeoutMs = 10 * 60_000;

const willPass = (error: unknown): boolean =>
  error instanceof ApiError ? error.status >= 500 || error.status === 429 : error instanceof TypeError;

/** Why a request failed: the network error's code or message. */
export const reasonOf = (error: unknown): string => {
  const { cause } = error as { cause?: { code?: string; message?: string } };
  return cause?.code || cause?.message || (error as Error).message;
};

/** Retries until the platform responds: the watched run continues meanwhile. */
export const withRetries = async <T>(
  ask: () => Promise<T>,
  emit: (event: { event: 'unreachable'; reason: string }) => void,
  signal?: AbortSignal,
): Promise<T> => {
  const since = Date.now();
  for (let wait = 500, reported = false; ; wait = Math.min(wait * 1.5, 10_000)) {
    try {
      return await ask();
    } catch (error) {
      if (!willPass(error) || Date.now() - since > unreachableTimeoutMs || signal?.aborted) throw error;
      // A single failure is not reported.
      if (wait > 500 && !reported) {
        reported = true;
        emit({ event: 'unreachable', reason: reasonOf(error) });
      }
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
};
