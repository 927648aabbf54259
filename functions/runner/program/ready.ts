import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, TransportError } from '#platform/net/transport/errors.ts';
import { retryFor } from '#platform/net/transport/retry.ts';
import type { ReadyAnswer, ReadyRequest } from '#run/protocols/runner.ts';
import { askForWork } from './client.ts';

/** A runner that waits for a phase: started before a run needed it, or after its plan. */

/** After this long without a response, the platform is gone or has started another runner. */
const silentMs = 60_000;
/** A runner must poll soon after the platform is reachable again, because a reservation lasts five seconds. */
const maxAskMs = 2000;
const firstPauseMs = 30;
const pauseGrowth = 1.5;

export const isWarm = (claim: string): boolean => claim.startsWith('warm-');

/** Not in the environment, which operators and Terraform's processes may read. */
export const newKey = (): string => randomBytes(32).toString('base64url');

export interface Waiting {
  signal: AbortSignal;
  /** The answer to an earlier request. */
  first?: ReadyAnswer;
  /** Called before each pause, of so many milliseconds. */
  onWait(ms: number): void;
}

/**
 * Polls until a phase is reserved for this runner.
 * @returns the claim of the phase; undefined if the runner has to exit
 * @throws {TokenDeadError} if another runner has registered in its place
 */
export const awaitReservation = async (
  url: string,
  request: ReadyRequest,
  { signal, first, onWait }: Waiting,
): Promise<string | undefined> => {
  let heardAt = Date.now();
  const ask = async (): Promise<ReadyAnswer> => {
    try {
      const answer = await askForWork(url, request, retryFor(maxAskMs, signal));
      heardAt = Date.now();
      return answer;
    } catch (error) {
      if (!signal.aborted && !(error instanceof TransportError)) throw error;
      if (!signal.aborted && Date.now() < heardAt + silentMs) return { action: 'wait', afterMs: maxAskMs };
      console.error(`not ready any more: ${messageOf(error)}`);
      return { action: 'exit' };
    }
  };
  let answer = first ?? (await ask());
  if (answer.action === 'wait') console.log(isWarm(request.claim) ? 'ready for a run' : 'ready for the apply');
  for (let pause = firstPauseMs; answer.action === 'wait'; pause *= pauseGrowth) {
    const ms = Math.min(pause, answer.afterMs);
    onWait(ms);
    await sleep(ms, undefined, { signal }).catch(() => {});
    answer = await ask();
  }
  if (answer.action !== 'claim') return undefined;
  console.log(`reserved for ${answer.claim}`);
  return `${answer.claim}.${request.key}`;
};
