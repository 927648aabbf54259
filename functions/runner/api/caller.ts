import { timingSafeEqual } from 'node:crypto';
import { hashSecret } from '#platform/store/id.ts';
import { heartbeat } from '#resources/runs/execution.ts';
import { getRun, getRunEventually, updateRun } from '#resources/runs/records.ts';
import { endingSignal } from '#run/agents.ts';
import type { OpenChange } from '#run/apply-progress.ts';
import { isStopped } from '#run/lifecycle.ts';
import type { Heartbeat } from '#run/protocols/runner.ts';
import type { PhaseName, Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';

/** An answer other than 200 to a runner. */
export class ProtocolError extends Error {
  override name = 'ProtocolError';
  readonly statusCode: number;
  constructor(statusCode: number, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}

/** A runner that has shown a living token. */
export interface Caller {
  run: Run;
  phase: PhaseName;
  token: string;
}

const form = /^(run-[A-Za-z0-9]{16})\.(plan|apply)\.[A-Za-z0-9_-]{40,50}$/;

/** `run-…​.plan.<secret>`: claims and tokens name the run and phase they are good for. */
export const readCapability = (text: string): { runId: string; phase: PhaseName } | undefined => {
  const match = form.exec(text);
  return match ? { runId: match[1] as string, phase: match[2] as PhaseName } : undefined;
};

const equal = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

const isTokenOf = (run: Run, phase: PhaseName, token: string): boolean =>
  equal(run[phase].tokenHash ?? '', hashSecret(token));

/** What the runner might have sent a moment ago as well, and what a write decides that holds its token against the run's. */
export const readsEventually = (call: string): boolean => call === 'log' || call === 'report';

/**
 * @param eventually by the run as it was a moment ago, for half the price. A token that it does not show is looked for again.
 * @throws {ProtocolError} 401 for what never was a token, 410 for one that is dead
 */
export const authenticate = async (authorization: string | undefined, { eventually = false } = {}): Promise<Caller> => {
  const token = authorization?.replace(/^Bearer /i, '') ?? '';
  const named = readCapability(token);
  if (!named) throw new ProtocolError(401, 'invalid token');
  const shown = eventually ? await getRunEventually(named.runId) : undefined;
  if (shown && isTokenOf(shown, named.phase, token)) return { run: shown, phase: named.phase, token };
  const run = await getRun(named.runId);
  const hash = run?.[named.phase].tokenHash;
  if (!run || !hash) throw new ProtocolError(410, 'token expired: its run or phase has ended');
  if (!isTokenOf(run, named.phase, token)) throw new ProtocolError(410, 'token revoked: another runner took over');
  return { run, phase: named.phase, token };
};

const waitsFor: Record<PhaseName, string> = { plan: 'Planning', apply: 'Applying' };

/**
 * The signal for a runner. With `wake` its heartbeat is passed on to the execution for as long as the phase runs, also
 * after a cancel or discard: only the phase's time limit bounds how long Terraform takes to stop. An execution that has
 * stopped waiting (its time limit has passed, or it was stopped) has the runner stop Terraform.
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

/** What Terraform finishes before it stops, for people. 1 write while the run is being canceled, none else. */
export const recordOpenChanges = async ({ id, cancel }: Run, open: OpenChange[] | undefined): Promise<void> => {
  if (!cancel || !open) return;
  await updateRun(id, { set: { 'cancel.open': open }, condition: 'attribute_exists(cancel)' });
};
