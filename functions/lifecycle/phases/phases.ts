import { recheckAutomaticApply } from '#lifecycle/decisions/automatic-apply.ts';
import { environment } from '#platform/environment.ts';
import { checkIn } from '#platform/store/due.ts';
import { hashSecret, isSecretOf, newSecret } from '#platform/store/id.ts';
import type { Change } from '#platform/store/table.ts';
import { inSeconds, now } from '#platform/store/time.ts';
import { deliver } from '#resources/runs/execution.ts';
import { getRun, getRunEventually, statusChange, updateRun } from '#resources/runs/records.ts';
import { tokenHashOf } from '#resources/runs/state-tokens.ts';
import { appliesNext, isReserved, mayApply } from '#run/lifecycle.ts';
import { entryOf } from '#run/machine-states.ts';
import type { PhaseReport } from '#run/phase-report.ts';
import type { PhaseName, Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';

/** Runners' requests that change a run: claim and report. Each is idempotent. */

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
  const isClaimOf = (run: Run | undefined) => isSecretOf(run?.[name].claimHash, secret);
  // The claim is older than its runner, and the write below checks it: an eventually consistent read is enough.
  const shown = await getRunEventually(runId);
  const run = isClaimOf(shown) ? shown : await getRun(runId);
  if (run && name === 'plan' && isStarting(run)) throw new NotStartedError();
  if (!run || isFinal(run.status) || !isClaimOf(run)) return undefined;
  const { claimHash } = run[name];
  const token = `${runId}.${name}.${newSecret()}`;
  const claimed = await updateRun(runId, {
    set: {
      [`${name}.claimNonce`]: nonce,
      [`${name}.tokenHash`]: tokenHashOf(runId, name, token),
      // A ready runner was not started for this phase; the claim assigns it.
      ...assigned(run, name),
    },
    remove: name === 'apply' ? spentByApply : [],
    condition: `${name}.claimHash = :claim AND (attribute_not_exists(${name}.claimNonce) OR ${name}.claimNonce = :nonce) AND attribute_not_exists(${name}.report) AND attribute_not_exists(cancel)`,
    values: { ':claim': claimHash, ':nonce': nonce },
  });
  return claimed && { run: claimed, phase: name, token };
};

const assigned = (run: Run, phase: PhaseName): Record<string, string> => {
  const { claimHash, reserved } = run[phase];
  const warm = reserved?.keyHash === claimHash ? reserved?.taskId : undefined;
  const taskId = warm ?? (phase === 'apply' && isReserved(run) ? run.plan.taskId : undefined);
  return taskId ? { [`${phase}.taskId`]: taskId } : {};
};

/**
 * Attributes that are not needed after the claim of the apply. They are removed because writes are billed by size; that
 * the apply has the plan's runner, the container's id still shows.
 */
const spentByApply = ['plan.ready', 'plan.tokenHash'];

/** After this time the execution was resumed, or the function that resumes it was interrupted. */
const answerSeconds = 60;

/** The runner's token was revoked during the request. */
export class TokenRevokedError extends Error {
  override name = 'TokenRevokedError';
}

/** Reserves the reporting runner for the apply of its plan, in the write of its report: its key becomes the claim. */
const reserving = (planned: Run, keyHash: string, report: Change): Change => ({
  ...report,
  set: {
    ...statusChange(entryOf('ApplyQueued', planned), planned, now()),
    'apply.claimHash': keyHash,
    ...report.set,
  },
  condition: `${report.condition} AND status = :planning AND wait.state = :waiting AND attribute_not_exists(cancel)
    AND attribute_not_exists(decision) AND attribute_not_exists(apply.claimHash)`,
  values: { ...report.values, ':planning': 'planning', ':waiting': 'Planning' },
});

/**
 * Stores a runner's report of its phase and resumes the execution. The first report counts.
 *
 * A runner that can apply its plan stays ready for that. If the run waits for nothing else, the same write reserves it,
 * and the execution waits in Planning for its claim (decisions/0222).
 *
 * @param run run with the runner's token, possibly stale
 * @param keyHash of the key of a plan's runner
 * @returns the run; undefined if it does not exist
 * @throws {TokenRevokedError}
 */
export const reportPhase = async (
  run: Run,
  phase: PhaseName,
  report: PhaseReport,
  keyHash?: string,
): Promise<Run | undefined> => {
  const { tokenHash, taskId } = run[phase];
  const reported = { ...run, [phase]: { ...run[phase], report } };
  const { autoApply, appliesFor } = phase === 'plan' ? await recheckAutomaticApply(reported) : reported;
  const readySeconds = phase === 'plan' && keyHash ? environment.readySeconds : 0;
  // Agents do not wait: they would be missing in their pool, and can start another process quickly.
  const waits = readySeconds > 0 && !run.agentPool && !run.savePlan;
  const staysReady = waits && keyHash && taskId && mayApply(reported);
  const change: Change = {
    set: {
      [`${phase}.report`]: report,
      ...(staysReady ? { 'plan.ready': { keyHash, until: inSeconds(readySeconds) } } : {}),
      ...checkIn(run.id, answerSeconds, run),
    },
    // Not needed any more, and writes are billed by size.
    remove: [`${phase}.claimHash`],
    condition: `attribute_not_exists(${phase}.report) AND ${phase}.tokenHash = :mine`,
    values: { ':mine': tokenHash },
  };
  const reserved =
    staysReady &&
    appliesNext({ ...reported, autoApply, appliesFor }) &&
    (await updateRun(run.id, reserving(reported, keyHash, change)));
  const current = reserved || (await updateRun(run.id, change)) || (await getRun(run.id));
  if (current?.[phase].tokenHash !== tokenHash) {
    throw new TokenRevokedError('token revoked: its run or phase has ended, or another runner took over');
  }
  if (current) await deliver(current);
  return current;
};
