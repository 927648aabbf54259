import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { retryFor } from '#platform/net/transport/retry.ts';
import { askForWork } from './client.ts';

/** Runs a runner that was started before a run needed it. */

/** After this long without a response, the platform is gone or has started another runner. */
const silentMs = 60_000;

export const isWarm = (claim: string): boolean => claim.startsWith('warm-');

/**
 * Polls until the runner is offered to a run.
 * @param onRegistered called with each response
 * @returns the claim of the run; undefined if the runner should exit
 * @throws {TokenDeadError, TransportError}
 */
export const awaitOffer = async (
  url: string,
  claim: string,
  signal: AbortSignal,
  onRegistered: () => void,
): Promise<string | undefined> => {
  // Not in the environment, which operators and Terraform's processes may read.
  const key = randomBytes(32).toString('base64url');
  let registered = false;
  while (!signal.aborted) {
    const answer = await askForWork(url, { claim, key }, retryFor(silentMs, signal)).catch((error) => {
      if (signal.aborted) return { action: 'exit' } as const;
      throw error;
    });
    if (answer.action === 'exit') return undefined;
    if (answer.action === 'claim') {
      console.log(`assigned to ${answer.claim}`);
      return `${answer.claim}.${key}`;
    }
    if (!registered) console.log('ready for a run');
    registered = true;
    onRegistered();
    await sleep(answer.afterMs, undefined, { signal }).catch(() => {});
  }
  return undefined;
};
