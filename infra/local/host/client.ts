import { setTimeout as delay } from 'node:timers/promises';
import type { AwsError } from './errors.ts';

/** Calls to services in the same process, as clients of AWS make them. */

/**
 * A client of the AWS SDK whose commands are performed in this process.
 * @param perform gets the operation's name, e.g. `GetItem`, and its input
 */
export const clientOf = <C>(perform: (operation: string, input: object) => Promise<object>): C => {
  // The schema of an operation begins with its kind, namespace and name (@smithy/types: StaticOperationSchema).
  const send = ({ schema, input }: { schema: [9, string, string]; input: object }) => perform(schema[2], input);
  return { send } as C;
};

/** AWS SDK: standard retry mode. */
const throttling = /Throttl|ThroughputExceeded|LimitExceeded|TooManyRequests|SlowDown/;
/** As functions/platform/store/aws.ts. */
const conflict = /ConditionalRequestConflict/;
const throttledMs = 500;
const failedMs = 100;
const maxPauseMs = 20_000;
/** HTTP status of a full disk. */
const insufficientStorage = 507;

/** Repeats a call after throttling, a fault of the service, or a lost connection. */
export const retried = async <T>(
  call: () => Promise<T>,
  maxAttempts: number,
  pause: (ms: number) => Promise<void> = delay,
): Promise<T> => {
  for (let tries = 1; ; tries++) {
    try {
      return await call();
    } catch (error) {
      const { name, statusCode = 500 } = error as AwsError;
      const isThrottled = throttling.test(name);
      const mayPass = isThrottled || conflict.test(name) || (statusCode >= 500 && statusCode !== insufficientStorage);
      if (tries >= maxAttempts || !mayPass) throw error;
      const pauseMs = (isThrottled ? throttledMs : failedMs) * 2 ** (tries - 1);
      await pause(Math.random() * Math.min(maxPauseMs, pauseMs));
    }
  }
};

/** The SDK's error for a connection that closes without a response. */
export const connectionLost = (): Error =>
  Object.assign(new Error('socket hang up'), { name: 'TimeoutError', code: 'ECONNRESET' });
