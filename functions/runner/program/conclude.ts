import { setTimeout as sleep } from 'node:timers/promises';
import { traceIdOf } from '#platform/formats/trace-ids.ts';
import { messageOf } from '#platform/net/transport/errors.ts';
import type { OpenChange } from '#run/apply-progress.ts';
import { maxOpenChanges, type PhaseReport, type ReadyAnswer, type ReportRequest } from '#run/protocols/runner.ts';
import { InterruptedError, PhaseError, TerraformError, TokenDeadError } from './errors.ts';
import type { Phase } from './phase.ts';

/** How a phase ended, and the control plane's answer. */
export interface Conclusion<T> {
  result?: T;
  next: ReadyAnswer;
  /** A failure of the runner itself, not of Terraform. */
  defect?: unknown;
}

const maxMessage = 1000;

/**
 * Terraform's client polls a plan's log at most every two seconds, and sends five more requests before it reads the
 * apply; if the run has errored by then, the client prints nothing of the apply. So an apply that fails at once is
 * reported after this time at the earliest.
 */
const shortestFailedApplyMs = 4000;

type Verdict = Pick<PhaseReport, 'outcome' | 'message'> & { defect?: unknown };

/** The outcome of an error, and the text that is still missing in the log. */
const verdictOf = (phase: Phase, error: unknown): Verdict => {
  const { control, log } = phase;
  if (error instanceof TerraformError) return { outcome: 'errored', message: error.message };
  if (error instanceof InterruptedError && control.cause === 'interrupt') {
    const end = control.killed ? 'was killed' : 'was interrupted';
    log.note(`\nTerraform ${end}: the run was canceled.`);
    return { outcome: 'canceled', message: `Terraform ${end} before it finished.` };
  }
  if (error instanceof InterruptedError) {
    log.error('the runner was stopped from outside before Terraform had finished.');
    return { outcome: 'errored', message: 'The runner was stopped before Terraform had finished.' };
  }
  log.error(messageOf(error));
  if (error instanceof PhaseError) return { outcome: 'errored', message: error.message };
  return { outcome: 'errored', message: `The runner failed: ${messageOf(error)}`, defect: error };
};

/** Changes that Terraform finishes before it stops; undefined without a stop request, or if they are unchanged. */
const openChanges = (phase: Phase, sent: string): OpenChange[] | undefined => {
  if (!phase.control.cause) return undefined;
  const open = phase.output.progress.openAt(Date.now()).slice(0, maxOpenChanges);
  const shown = open.map(({ address, since }) => ({
    address: phase.masked(address),
    since: new Date(since).toISOString(),
  }));
  return JSON.stringify(shown) === sent ? undefined : shown;
};

const startHeartbeats = (phase: Phase): { end(): Promise<void> } => {
  const { client, control, job, refuge } = phase;
  const ended = new AbortController();
  const everyMs = job.heartbeatSeconds * 1000;
  let heardAt = Date.now();
  let sent = '[]';
  let beat: Promise<void> | undefined;
  const timer = setInterval(() => {
    if (job.silentSeconds && Date.now() - heardAt > job.silentSeconds * 1000) control.stop();
    if (beat) return;
    const open = openChanges(phase, sent);
    beat = client
      .heartbeat({ ...control.patience(everyMs), signal: ended.signal }, refuge.isOld, open && { open })
      .then((answer) => {
        heardAt = Date.now();
        if (open) sent = JSON.stringify(open);
        if (answer.erroredStateUrl) refuge.renew(answer.erroredStateUrl);
        control.heed(answer);
      })
      .catch((error) => {
        if (!ended.signal.aborted) console.error(messageOf(error));
      })
      .finally(() => {
        beat = undefined;
      });
  }, everyMs);
  return {
    async end() {
      clearInterval(timer);
      ended.abort();
      await beat;
    },
  };
};

/**
 * Runs the phase while sending heartbeats, ends its log, and reports.
 * @param key of a runner that can continue with the apply
 * @throws {TokenDeadError} if the control plane rejected the runner's token
 * @throws {Error} if the report could not be delivered
 */
export const conclude = async <T>(phase: Phase, work: () => Promise<T>, key?: string): Promise<Conclusion<T>> => {
  const { control, log, client, job, facts } = phase;
  const heart = startHeartbeats(phase);
  const startedAt = Date.now();
  let result: T | undefined;
  let verdict: Verdict;
  try {
    result = await work();
    verdict = { outcome: 'finished' };
  } catch (error) {
    if (control.over.aborted) {
      await Promise.all([heart.end(), log.close(), phase.forgetIdentity()]);
      throw error instanceof TokenDeadError ? error : new TokenDeadError(messageOf(error));
    }
    phase.head();
    verdict = verdictOf(phase, error);
  }
  const { outcome, defect } = verdict;
  const message = [phase.stateProblem, verdict.message].filter(Boolean).join(' ');
  const reportAt = job.phase === 'apply' && outcome === 'errored' ? startedAt + shortestFailedApplyMs - Date.now() : 0;
  // The file must be complete before it is stored.
  log.end();
  const stored = storeLog(phase, outcome);
  // The phase's end follows at once and publishes the stored log: do not send the rest as well.
  const closed = reportAt > 0 ? log.close() : stored.then((whole) => log.close({ send: !whole }));
  await Promise.all([closed, stored, phase.forgetIdentity(), sleep(Math.max(0, reportAt))]);
  // Not in parallel with the report: the token is rejected for heartbeats that arrive after it.
  await heart.end();
  const report: ReportRequest = {
    outcome,
    ...(outcome === 'finished' ? {} : { message: phase.masked(message).slice(0, maxMessage) }),
    ...facts,
    ...failedChecksOf(phase),
    ...(phase.stateProblem ? { stateProblem: phase.masked(phase.stateProblem).slice(0, maxMessage) } : {}),
    artifacts: phase.artifacts.stored,
    enclosed: phase.artifacts.enclosed,
    ...(job.environment.TRACEPARENT ? { steps: phase.timings.steps } : {}),
    key,
  };
  const timings = phase.timings.all();
  const { next, laterUrls } = await client.report(report, control.patience());
  phase.afterwards.urls = laterUrls;
  control.close();
  const named = { runId: job.runId, traceId: traceIdOf(job.runId), phase: job.phase };
  console.log(JSON.stringify({ message: 'phase ended', ...named, outcome, timings }));
  return { result, next, defect };
};

const failedChecksOf = ({ output: { failedChecks } }: Phase): Pick<PhaseReport, 'failedChecks'> =>
  failedChecks.length ? { failedChecks } : {};

/** @returns false if readers have only the log's pieces */
const storeLog = async ({ artifacts, log }: Phase, outcome: PhaseReport['outcome']): Promise<boolean> => {
  if (!log.isOnDisk) return false;
  const file = { file: log.path, size: log.size };
  try {
    // If the report is rejected, as after a forced cancel, the stored log must explain the outcome.
    await (outcome === 'finished' ? artifacts.enclose('log', file) : artifacts.put('log', file));
    return true;
  } catch (error) {
    console.error(messageOf(error));
    return false;
  }
};
