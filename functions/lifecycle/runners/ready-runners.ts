import { setTimeout as sleep } from 'node:timers/promises';
import { isSlotWanted } from '#lifecycle/slots/slots.ts';
import { environment } from '#platform/environment.ts';
import { hashSecret, isSecretOf } from '#platform/store/id.ts';
import { keys } from '#platform/store/keys.ts';
import { update, updateExisting } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { getRun, getRunEventually, updateRun } from '#resources/runs/records.ts';
import { isStopped } from '#run/lifecycle.ts';
import type { ReadyAnswer } from '#run/protocols/runner.ts';
import type { Phase, PhaseName, Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';
import { launchRunner, needsRunner, refusalOfRun } from './launcher.ts';
import {
  getWarmRunner,
  isWarmRunner,
  leavePool,
  readyRunners,
  removableLater,
  startWarmRunner,
  type WarmRunner,
} from './warm-runners.ts';

/**
 * Runners that are ready for a phase: a warm runner for a phase of any run, and a plan's runner, which has executed the
 * run's code, only for the apply of its own run. Each chose a key that only its process knows. A reservation makes this
 * key the claim of the phase. So no secret is transferred, and the key is valid for one phase.
 */

/** If a reserved runner has not claimed within this time, another one is started. */
const claimMs = 5000;
/** Time limit for writing the reservation of a warm runner to the run's item. */
const reserveMs = 2 * claimMs;
const firstPauseMs = 20;
const maxPauseMs = 250;
const pauseGrowth = 1.5;

type Reserved = NonNullable<Phase['reserved']>;

/** Reserves a ready runner for the phase, or else starts one. */
export const assignRunner = async (run: Run, phase: PhaseName): Promise<void> => {
  if (!needsRunner(run, phase)) return;
  const mayReserve = !run.agentPool && refusalOfRun(run) === undefined;
  if (!mayReserve || !(await assignReady(run, phase))) await launchRunner(run, phase);
};

/** @returns whether the phase has a runner, or no longer needs one */
const assignReady = async (run: Run, phase: PhaseName): Promise<boolean> => {
  const { ready, taskId } = run.plan;
  if (phase === 'apply' && taskId && ready && ready.until > now()) {
    if (await assign(run, phase, { keyHash: ready.keyHash })) return true;
  }
  for (const { id } of environment.warmRunners ? await readyRunners() : []) {
    const runner = await reserveWarm(id, run.id, phase);
    if (!runner) continue;
    await leavePool(id);
    const claimed = await assign(run, phase, runner);
    await startWarmRunner();
    return claimed;
  }
  return false;
};

/** One conditional write decides between runs that reserve the same runner. */
const reserveWarm = (id: string, runId: string, phase: PhaseName): Promise<(WarmRunner & Reserved) | undefined> => {
  const at = now();
  return update(keys.warmRunner(id), {
    set: { reserved: { runId, phase, at }, ...removableLater() },
    condition: 'attribute_not_exists(reserved) AND attribute_not_exists(retiredAt) AND readyUntil > :now',
    values: { ':now': at },
  });
};

/**
 * Reserves the plan's runner, or a warm one with its task, for the phase, and withdraws the reservation if the runner does
 * not claim in time.
 * @returns whether the phase has a runner, or no longer needs one
 */
const assign = async (
  run: Run,
  phase: PhaseName,
  { keyHash, taskId }: Pick<Reserved, 'keyHash'> & Partial<Reserved>,
): Promise<boolean> => {
  const reserved = await updateRun(run.id, {
    set: { [`${phase}.claimHash`]: keyHash, ...(taskId ? { [`${phase}.reserved`]: { keyHash, taskId } } : {}) },
    condition: `attribute_not_exists(${phase}.claimNonce) AND attribute_not_exists(${phase}.taskId) AND attribute_not_exists(cancel)`,
  });
  if (!reserved) return true;
  const end = Date.now() + claimMs;
  for (let pause = firstPauseMs; Date.now() < end; pause = Math.min(maxPauseMs, pause * pauseGrowth)) {
    await sleep(pause);
    const current = await getRun(run.id);
    if (!current || isFinal(current.status)) return true;
    if (current[phase].claimNonce || current[phase].claimHash !== keyHash) return true;
  }
  const withdrawn = await updateRun(run.id, {
    remove: [`${phase}.claimHash`, `${phase}.reserved`, 'plan.ready'],
    condition: `${phase}.claimHash = :key AND attribute_not_exists(${phase}.claimNonce)`,
    values: { ':key': keyHash },
  });
  return withdrawn === undefined;
};

/**
 * The response to a ready runner's poll.
 * @param claim of a warm runner, `<id>.<secret>`; or of a plan's runner, `<run>.apply`
 * @returns undefined if there is no such runner
 */
export const answerReady = async (claim: string, key: string): Promise<ReadyAnswer | undefined> => {
  const [id = '', secret = ''] = claim.split('.');
  if (isWarmRunner(id)) return answerWarmRunner(id, secret, key);
  const shown = await getRunEventually(id);
  const run = shown?.plan.ready ? shown : await getRun(id);
  const answer = run && answerPlanRunner(run, key);
  return run && answer?.action === 'wait' && (await givesWay(run)) ? { action: 'exit' } : answer;
};

/** A plan's runner is ready for a confirmation only while no other run could have its slot. */
const givesWay = async (run: Run): Promise<boolean> => {
  if (!(await isSlotWanted(run))) return false;
  const withdrawn = await updateRun(run.id, {
    remove: ['plan.ready'],
    condition: 'plan.ready.keyHash = :key AND attribute_not_exists(apply.claimHash)',
    values: { ':key': run.plan.ready?.keyHash },
  });
  return withdrawn !== undefined;
};

/** Maximum interval between the polls of a plan's runner. */
const planPollMs = 2000;

/** The plan's runner gets the apply of this run, or has to exit. */
export const answerPlanRunner = (run: Run, key: string): ReadyAnswer => {
  const { id, plan, apply } = run;
  const keyHash = hashSecret(key);
  if (plan.ready?.keyHash !== keyHash || isStopped(run)) return { action: 'exit' };
  if (apply.claimHash === keyHash) return { action: 'claim', claim: `${id}.apply` };
  const mayBeReserved = apply.claimHash === undefined && plan.ready.until > now();
  return mayBeReserved ? { action: 'wait', afterMs: planPollMs } : { action: 'exit' };
};

/** Lease of a ready runner, which it renews with each poll. */
const leaseMs = 10_000;
const leaseEnd = (): string => new Date(Date.now() + leaseMs).toISOString();

/**
 * A warm runner's first poll registers its key. From then on the secret that it was started with, which operators can
 * see in the container's environment, is useless without the key.
 */
const answerWarmRunner = async (id: string, secret: string, key: string): Promise<ReadyAnswer | undefined> => {
  const runner = await getWarmRunner(id);
  const keyHash = hashSecret(key);
  if (!runner || !isSecretOf(runner.secretHash, secret)) return undefined;
  if (runner.keyHash ? runner.keyHash !== keyHash : !(await register(id, keyHash))) return undefined;
  if (runner.reserved) return answerReserved(runner.reserved, keyHash);
  const { warmRunners } = environment;
  if (!warmRunners || runner.retiredAt) return { action: 'exit' };
  if (Date.parse(runner.readyUntil ?? '') - Date.now() < leaseMs / 2) await renew(id);
  return { action: 'wait', afterMs: warmRunners.pollMs };
};

const register = (id: string, keyHash: string): Promise<unknown> =>
  updateExisting(keys.warmRunner(id), {
    set: { keyHash, readyUntil: leaseEnd() },
    condition: 'attribute_not_exists(keyHash) OR keyHash = :key',
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
  return Date.now() < Date.parse(at) + reserveMs ? { action: 'wait', afterMs: firstPauseMs } : { action: 'exit' };
};
