import { ApiError, UnreachableError } from './errors.ts';

/** Whether it is a POST that takes an Idempotency-Key. */
export const isRepeatable = (method: string, path: string): boolean => method === 'POST' && path === '/runs';

const maxRepeats = 3;
const firstPauseMs = 300;

const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** Whether the request may have been processed without a response. */
const isUnanswered = (error: unknown): boolean =>
  error instanceof UnreachableError || (error instanceof ApiError && error.status >= 500);

/** Repeats a request without a response, each time with the same key. */
export const withKey = async <T>(send: (headers: Record<string, string>) => Promise<T>): Promise<T> => {
  const headers = { 'idempotency-key': newKey() };
  for (let repeats = 0; ; repeats++) {
    try {
      return await send(headers);
    } catch (error) {
      if (!isUnanswered(error) || repeats === maxRepeats) throw error;
      await new Promise((resolve) => setTimeout(resolve, firstPauseMs * 2 ** repeats * (1 + Math.random())));
    }
  }
};
