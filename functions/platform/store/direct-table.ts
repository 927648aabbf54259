import { setTimeout as delay } from 'node:timers/promises';
import { environment } from '#platform/environment.ts';
import type { DirectCalls } from './direct-calls.ts';

/** AWS SDK: standard retry mode. */
const throttling = /Throttl|ThroughputExceeded|LimitExceeded|TooManyRequests/;
const throttledMs = 500;
const failedMs = 100;
const maxPauseMs = 20_000;

/**
 * Calls an operation of DynamoDB in the same process, with the AWS SDK's retries.
 * @param operation its name in IAM, e.g. `GetItem`
 * @returns the output; binary values are byte arrays, as in the input
 * @throws {TableRefusal} and connection errors
 */
export const callTable = async (calls: DirectCalls, operation: string, input: object): Promise<object> => {
  for (let tries = 1; ; tries++) {
    try {
      return await calls.table(operation, input);
    } catch (error) {
      const pauseMs = pauseAfter(error as Error & { status?: number });
      if (pauseMs === undefined || tries >= environment.maxAttempts) throw error;
      await delay(Math.random() * Math.min(maxPauseMs, pauseMs * 2 ** (tries - 1)));
    }
  }
};

/** Pause before the next attempt; undefined for no further attempt. Lost connections have no status. */
const pauseAfter = ({ name, status = 500 }: Error & { status?: number }): number | undefined => {
  if (throttling.test(name)) return throttledMs;
  return status >= 500 ? failedMs : undefined;
};
