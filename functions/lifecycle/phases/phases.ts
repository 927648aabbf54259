import { timingSafeEqual } from 'node:crypto';
import { recheckAutomaticApply } from '#lifecycle/decisions/automatic-apply.ts';
import { checkIn } from '#platform/store/due.ts';
import { hashSecret, newSecret } from '#platform/store/id.ts';
import { deliver } from '#resources/runs/execution.ts';
import { getRun, getRunEventually, updateRun } from '#resources/runs/records.ts';
import { stateTokenOf } from '#resources/runs/state-tokens.ts';
import { mayApply } from '#run/lifecycle.ts';
import type { PhaseName, PhaseReport, Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';

/** Runners' requests that change a run: claim, stand by, report. Each is idempotent. */

export interface Claimed {
  run: Run;
  phase: PhaseName;
  /** Valid for this run and phase until the phase ends. */
  token: string;
}

/** A new claim, and the attributes to write: only the runner has the secret itself. */
export const newClaim = (phase: PhaseName): { secret: string; set: Record<string, string> } => {
  const secret = newSecret();
  return { secret, set: { [`${phase}.claimHash`]: hashSecret(secret) } };
};

/** A token for the runner that claims with this nonce, and the attributes to write. */
export const newTokens = (
  runId: string,
  phase: PhaseName,
  nonce: string,
): { token: string; set: Record<string, string> } => {
  const token = `${runId}.${phase}.${newSecret()}`;
  return {
    token,
    set: {
      [`${phase}.claimNonce`]: nonce,
      [`${phase}.tokenHash`]: hashSecret(token),
      [`${phase}.stateTokenHash`]: hashSecret(stateTokenOf(runId, phase, token)),
    },
  };
};

const same = (a: string | undefined, b: string): boolean =>
  a?.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

/** The runner claimed before its claim was written (lifecycle/states/plan-queued.ts), and must retry. */
export class NotStartedError extends Error {
  override name = 'NotStartedError';
}

const isStarting = ({ status, plan, agentPool, cancel }: Run): boolean =>
  !isFinal(status) && !agentPool && !cancel && !plan.claimHash && !plan.claimNonce && !plan.report;

/**
 * Exchanges a claim for a token. The same nonce may claim again. The caller resumes the execution, in parallel with
 * the runner's other reads.
 * @returns undefined if the claim is void
 * @throws {NotStartedError}
 */
export const claimPhase = async (claim: string, nonce: string): Promise<Claimed | undefined> => {
  const [runId = '', name = '', secret = ''] = claim.split('.');
  if (name !== 'plan' && name !== 'apply') return undefined;
  const isClaimOf = (run: Run | undefined) => same(run?.[name].claimHash, hashSecret(secret));
  // The claim is older than its runner, and the write below checks it: an eventually consistent read is enough.
  const shown = await getRunEventually(runId);
  const run = isClaimOf(shown) ? shown : await getRun(runId);
  if (run && name === 'plan' && isStarting(run)) throw new NotStartedError();
  if (!run || isFinal(run.status) || !isClaimOf(run)) return undefined;
  const { claimHash, warm } = run[name];
  return take(run, name, nonce, {
    condition: `${name}.claimHash = :claim`,
    values: { ':claim': claimHash },
    // A warm runner was not started for this run; the claim assigns it to the run.
    set: warm && warm.keyHash === claimHash ? { [`${name}.taskArn`]: warm.taskArn } : undefined,
  });
};

/** Gives the apply to the plan's runner, to which it was offered; the plan's token identifies the runner. */
export const claimHeldApply = (run: Run, planToken: string): Promise<Claimed | undefined> =>
  take(run, 'apply', hashSecret(planToken), {
    condition: 'attribute_exists(apply.offeredAt) AND attribute_not_exists(apply.claimHash)',
    values: {},
    set: { 'apply.taskArn': run.plan.taskArn },
  });

const take = async (
  run: Run,
  phase: PhaseName,
  nonce: string,
  { condition, values, set }: { condition: string; values: Record<string, unknown>; set?: Record<string, unknown> },
): Promise<Claimed | undefined> => {
  const { token, set: tokens } = newTokens(run.id, phase, nonce);
  const claimed = await updateRun(run.id, {
    set: { ...tokens, ...set },
    condition: `${condition} AND (attribute_not_exists(${phase}.claimNonce) OR ${phase}.claimNonce = :nonce) AND attribute_not_exists(${phase}.report) AND attribute_not_exists(cancel)`,
    values: { ...values, ':nonce': nonce },
  });
  return claimed && { run: claimed, phase, token };
};

/** Lease of a standing-by runner, which it renews. After the lease has expired, the runner is not offered the apply. */
const leaseMs = 15_000;

const leaseEnd = (): string => new Date(Date.now() + leaseMs).toISOString();

export const extendHold = async (run: Run): Promise<void> => {
  if (run.plan.heldUntil && Date.parse(run.plan.heldUntil) - Date.now() > leaseMs / 2) return;
  await updateRun(run.id, { set: { 'plan.heldUntil': leaseEnd() }, condition: 'attribute_exists(plan.heldUntil)' });
};

/**
 * Attributes that are not needed after the phase's report. They are removed because writes are billed by size; the
 * apply's remaining attributes still show whether there is a runner.
 */
export const spent: Record<PhaseName, string[]> = {
  plan: ['plan.claimHash', 'plan.stateTokenHash'],
  apply: ['apply.stateTokenHash'],
};

/** After this time the execution was resumed, or the function that resumes it was interrupted. */
const answerSeconds = 60;

/** The runner's token was revoked during the request. */
export class TokenRevokedError extends Error {
  override name = 'TokenRevokedError';
}

/**
 * Stores a runner's report of its phase and resumes the execution. The first report counts.
 *
 * @param run run with the runner's token, possibly stale
 * @returns the run, if the runner shall stand by for the apply
 * @throws {TokenRevokedError}
 */
export const reportPhase = async (
  run: Run,
  phase: PhaseName,
  report: PhaseReport,
  holdSeconds: number,
): Promise<Run | undefined> => {
  const { tokenHash } = run[phase];
  const planned = { ...run, plan: { ...run.plan, report } };
  // The runner of a saved plan does not stand by (runner/api/job.ts).
  const holds = phase === 'plan' && holdSeconds > 0 && !run.savePlan && mayApply(planned);
  if (phase === 'plan') await recheckAutomaticApply(planned);
  const reported = await updateRun(run.id, {
    set: {
      [`${phase}.report`]: report,
      ...(holds ? { 'plan.heldUntil': leaseEnd() } : {}),
      ...checkIn(run.id, answerSeconds, run),
    },
    remove: spent[phase],
    condition: `attribute_not_exists(${phase}.report)${tokenHash ? ` AND ${phase}.tokenHash = :mine` : ''}`,
    values: tokenHash ? { ':mine': tokenHash } : {},
  });
  const current = reported ?? (await getRun(run.id));
  if (!reported && current?.[phase].tokenHash !== tokenHash) {
    throw new TokenRevokedError('token revoked: its run or phase has ended, or another runner took over');
  }
  if (current) await deliver(current);
  const stands = current?.plan.heldUntil ?? current?.apply.offeredAt;
  return holds && stands ? current : undefined;
};
