import { setTimeout as sleep } from 'node:timers/promises';
import { environment } from '#platform/environment.ts';
import { hashSecret } from '#platform/store/id.ts';
import { keys } from '#platform/store/keys.ts';
import { update } from '#platform/store/table.ts';
import { getRun, updateRun } from '#resources/runs/records.ts';
import type { ReadyAnswer } from '#run/protocols/runner.ts';
import type { PhaseName, Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';
import { launchRunner, needsRunner, refusalOfRun } from './launcher.ts';
import {
  getWarmRunner,
  leavePool,
  readyRunners,
  removableLater,
  startWarmRunner,
  type WarmRunner,
} from './warm-runners.ts';

/**
 * Assigns ready runners to phases of runs. The runner chose a key when it registered, which only its process knows;
 * the run's claim is that key. So no secret is transferred, and the key is valid for one run.
 */

/** If a ready runner has not claimed within this time, it is abandoned and a container is started. */
const pickUpMs = 5000;
/** Time limit for writing the offer to the run's item. */
const offerMs = 2 * pickUpMs;
const firstPauseMs = 20;
const maxPauseMs = 250;
const pauseGrowth = 1.5;

/** Gives the phase to a ready runner, or else starts a container for it. */
export const launchFirst = async (run: Run, phase: PhaseName): Promise<void> => {
  if (!needsRunner(run, phase)) return;
  const mayBeWarm = environment.warmRunners && !run.agentPool && refusalOfRun(run) === undefined;
  if (!mayBeWarm || !(await isTaken(run, phase))) await launchRunner(run, phase);
};

/** @returns whether the phase has a runner, or no longer needs one */
const isTaken = async (run: Run, phase: PhaseName): Promise<boolean> => {
  for (const { id } of await readyRunners()) {
    const runner = await reserve(id, run.id, phase);
    if (!runner) continue;
    await leavePool(id);
    const taken = await offer(run, phase, runner);
    await startWarmRunner();
    return taken;
  }
  return false;
};

/** One conditional write decides between runs that reserve the same runner. */
const reserve = (id: string, runId: string, phase: PhaseName): Promise<WarmRunner | undefined> => {
  const now = new Date().toISOString();
  return update<WarmRunner>(keys.warmRunner(id), {
    set: { reserved: { runId, phase, at: now }, ...removableLater() },
    condition: 'attribute_not_exists(reserved) AND attribute_not_exists(retiredAt) AND readyUntil > :now',
    values: { ':now': now },
  });
};

const offer = async (run: Run, phase: PhaseName, { keyHash, taskArn }: WarmRunner): Promise<boolean> => {
  const offered = await updateRun(run.id, {
    set: { [`${phase}.claimHash`]: keyHash, [`${phase}.warm`]: { keyHash, taskArn } },
    remove: [`${phase}.offeredAt`],
    condition: `attribute_not_exists(${phase}.claimNonce) AND attribute_not_exists(${phase}.taskArn) AND attribute_not_exists(cancel)`,
  });
  if (!offered) return true;
  const end = Date.now() + pickUpMs;
  for (let pause = firstPauseMs; Date.now() < end; pause = Math.min(maxPauseMs, pause * pauseGrowth)) {
    await sleep(pause);
    const now = await getRun(run.id);
    if (!now || isFinal(now.status) || now[phase].claimNonce || now[phase].claimHash !== keyHash) return true;
  }
  const withdrawn = await updateRun(run.id, {
    remove: [`${phase}.claimHash`, `${phase}.warm`],
    condition: `${phase}.claimHash = :key AND attribute_not_exists(${phase}.claimNonce)`,
    values: { ':key': keyHash },
  });
  return withdrawn === undefined;
};

/** Lease of a ready runner, which it renews with each poll. */
const leaseMs = 10_000;
const leaseEnd = (): string => new Date(Date.now() + leaseMs).toISOString();

/**
 * The response to a ready runner's poll. Its first poll registers its key. From then on the secret that it was
 * started with, which operators can see in the container's environment, is useless without the key.
 *
 * @param claim `<id>.<secret>` that it was started with
 * @returns undefined if there is no such runner, or it registered with another key
 */
export const answerWarmRunner = async (claim: string, key: string): Promise<ReadyAnswer | undefined> => {
  const [id = '', secret = ''] = claim.split('.');
  const runner = await getWarmRunner(id);
  const keyHash = hashSecret(key);
  if (!runner || runner.secretHash !== hashSecret(secret)) return undefined;
  if (runner.keyHash ? runner.keyHash !== keyHash : !(await register(id, keyHash))) return undefined;
  if (runner.reserved) return answerReserved(runner.reserved, keyHash);
  const { warmRunners } = environment;
  if (!warmRunners || runner.retiredAt) return { action: 'exit' };
  if (Date.parse(runner.readyUntil ?? '') - Date.now() < leaseMs / 2) await renew(id);
  return { action: 'wait', afterMs: warmRunners.pollMs };
};

const register = (id: string, keyHash: string): Promise<unknown> =>
  update(keys.warmRunner(id), {
    set: { keyHash, readyUntil: leaseEnd() },
    condition: 'attribute_exists(pk) AND (attribute_not_exists(keyHash) OR keyHash = :key)',
    values: { ':key': keyHash },
  });

const renew = (id: string): Promise<unknown> =>
  update(keys.warmRunner(id), { set: { readyUntil: leaseEnd() }, condition: 'attribute_not_exists(reserved)' });

const answerReserved = async (
  { runId, phase, at }: NonNullable<WarmRunner['reserved']>,
  keyHash: string,
): Promise<ReadyAnswer> => {
  const run = await getRun(runId);
  // Also if it has claimed already and the response was lost: the same runner may claim again.
  if (run?.[phase].claimHash === keyHash) return { action: 'claim', claim: `${runId}.${phase}` };
  return Date.now() < Date.parse(at) + offerMs ? { action: 'wait', afterMs: firstPauseMs } : { action: 'exit' };
};
