import { noteRun } from '#platform/store/invocation.ts';
import { heartbeat } from '#resources/runs/execution.ts';
import { getRun, getRunEventually, updateRun } from '#resources/runs/records.ts';
import { isRunnerToken } from '#resources/runs/state-tokens.ts';
import { endingSignal } from '#run/agents.ts';
import type { OpenChange } from '#run/apply-progress.ts';
import { isStopped } from '#run/lifecycle.ts';
import type { Heartbeat } from '#run/protocols/runner.ts';
import type { PhaseName, Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';

/** An error response to a runner. */
export class ProtocolError extends Error {
  override name = 'ProtocolError';
  readonly statusCode: number;
  constructor(statusCode: number, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}

/** A runner with a valid token. */
export interface Caller {
  run: Run;
  phase: PhaseName;
  token: string;
}

const form = /^(run-[A-Za-z0-9]{16})\.(plan|apply)\.[A-Za-z0-9_-]{40,50}$/;

/** `run-…​.plan.<secret>`: claims and tokens contain the run and phase that they are valid for. */
export const readCapability = (text: string): { runId: string; phase: PhaseName } | undefined => {
  const match = form.exec(text);
  return match ? { runId: match[1] as string, phase: match[2] as PhaseName } : undefined;
};

/**
 * Calls for which an eventually consistent read is enough: the runner could have sent its log a moment earlier, and
 * the write of a report checks the token again.
 */
export const readsEventually = (call: string): boolean => call === 'log' || call === 'report';

/**
 * @param eventually first tries an eventually consistent read, at half the price; if the token does not match it,
 * reads again
 * @throws {ProtocolError} 401 for an invalid token, 410 for an expired or revoked one
 */
export const authenticate = async (authorization: string | undefined, { eventually = false } = {}): Promise<Caller> => {
  const token = authorization?.replace(/^Bearer /i, '') ?? '';
  const capability = readCapability(token);
  if (!capability) throw new ProtocolError(401, 'invalid token');
  const { runId, phase } = capability;
  noteRun(runId);
  const eventual = eventually ? await getRunEventually(runId) : undefined;
  if (eventual && isRunnerToken(eventual, phase, token)) return { run: eventual, phase, token };
  const run = await getRun(runId);
  if (!run?.[phase].tokenHash) throw new ProtocolError(410, 'token expired: its run or phase has ended');
  if (!isRunnerToken(run, phase, token)) throw new ProtocolError(410, 'token revoked: another runner took over');
  return { run, phase, token };
};

const waitsFor: Record<PhaseName, string> = { plan: 'Planning', apply: 'Applying' };

/**
 * Returns the signal for a runner. With `wake`, its heartbeat is passed to the execution while the phase runs, also
 * after a cancel or discard: only the phase's time limit bounds how long Terraform takes to stop. If the execution no
 * longer waits (its time limit has passed, or it was stopped), the signal interrupts Terraform.
 */
export const recordHeartbeat = async (
  { run, phase }: Pick<Caller, 'run' | 'phase'>,
  { wake = false } = {},
): Promise<Heartbeat> => {
  if (run.cancel?.forced || isFinal(run.status)) return { signal: 'kill' };
  const { stop } = run[phase];
  if (stop) return { signal: endingSignal(stop, new Date().toISOString()) };
  const isAwaited = !wake || run.wait?.state !== waitsFor[phase] || (await heartbeat(run));
  return { signal: isAwaited && !isStopped(run) ? 'continue' : 'interrupt' };
};

/**
 * Stores the changes that Terraform finishes before it stops, which users see. 1 write while the run is being canceled,
 * otherwise none.
 */
export const recordOpenChanges = async ({ id, cancel }: Run, open: OpenChange[] | undefined): Promise<void> => {
  if (!cancel || !open) return;
  await updateRun(id, { set: { 'cancel.open': open }, condition: 'attribute_exists(cancel)' });
};
