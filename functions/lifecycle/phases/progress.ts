import { recheckAutomaticApply } from '#lifecycle/decisions/automatic-apply.ts';
import { checkIn } from '#platform/store/due.ts';
import { deliver } from '#resources/runs/execution.ts';
import { getRun, getRunEventually, statusChange, updateRun } from '#resources/runs/records.ts';
import { type Attempt, notSuperseded, orderOf } from '#run/attempts.ts';
import type { Verdicts } from '#run/check-record.ts';
import { exitOnEntry, isAhead, mayEnter, type Next, nextStep } from '#run/lifecycle.ts';
import { type CheckState, entryOf, type RunState, type TaskState, type WaitingState } from '#run/machine-states.ts';
import type { Run } from '#run/run.ts';

/** Applies the machine's states to the run's item. */

/** Input of a waiting state's function. */
export interface WaitingTask extends Attempt {
  runId: string;
}

/** Input of a function that does the work of its state itself. */
export interface CheckTask {
  runId: string;
}

/** The machine and the run disagree, e.g. after a redrive of an ended run. The machine catches it and finishes the run. */
export class RunNotInStateError extends Error {
  override name = 'RunNotInStateError';
  constructor(runId: string, state: string, status: string) {
    super(`run ${runId} is ${status} and cannot enter ${state}`);
  }
}

export interface Entering {
  /** Attributes set together with the status. */
  extra?: (run: Run) => Record<string, unknown>;
  /** Called with the run before it is written. */
  look?: (run: Run) => Promise<void>;
}

/**
 * States that only wait, right after a write of the run: an eventually consistent read is enough, because the write
 * checks the run. If the read is stale, the run is read again.
 */
const afterClaim: readonly RunState[] = ['Planning', 'Applying'];

/** Maximum attempts when the status changes between read and write. */
const tries = 4;

const enter = async (
  runId: string,
  state: RunState,
  attempt: Attempt | undefined,
  { extra = () => ({}), look = async () => {} }: Entering = {},
): Promise<Run> => {
  const order = attempt && orderOf(attempt);
  const last = notSuperseded('wait.order', order);
  let status = 'missing';
  for (let i = 0; i < tries; i++) {
    const eventually = i === 0 && afterClaim.includes(state);
    const before = await (eventually ? getRunEventually(runId) : getRun(runId));
    if (!before) {
      if (eventually) continue;
      throw new Error(`run ${runId} does not exist`);
    }
    status = before.status;
    const entry = entryOf(state, before);
    const repeat = status === entry.status;
    // Every task of a stage enters its state; the first one has changed the status.
    if (repeat && !attempt && before.wait?.state === state) return before;
    if (order && (before.wait?.order ?? '') > order) break;
    const ahead = isAhead(state, before);
    if (!repeat && !ahead && !(entry.from.includes(before.status) && mayEnter(state, before))) {
      if (eventually) continue;
      break;
    }
    await look(before);
    const away = ahead || exitOnEntry(state, before) !== undefined;
    const run = await updateRun(runId, {
      set: {
        ...(repeat || away ? {} : statusChange(entry, before, new Date().toISOString())),
        ...(away ? {} : extra(before)),
        wait: attempt ? { state, token: attempt.token, order } : { state },
        ...checkIn(runId, entry.lookAfterSeconds, before),
      },
      condition: ['#status = :expected', last.condition].filter(Boolean).join(' AND '),
      values: { ':expected': before.status, ...last.values },
    });
    if (run) return run;
  }
  throw new RunNotInStateError(runId, state, status);
};

/**
 * Enters a waiting state: writes status, timeline and token together, then resumes the execution if the response
 * arrived before the token. A retry may enter again with a new token. If the run was stopped, only the token is
 * written.
 * @throws {RunNotInStateError} if the run may not enter the state, is final, or has a later attempt
 */
export const enterState = async (
  runId: string,
  state: WaitingState,
  attempt: Attempt,
  entering?: Entering,
): Promise<Run> => {
  const run = await enter(runId, state, attempt, entering);
  await deliver(run);
  return run;
};

/** Enters a state whose function does the work; each task of a stage enters the stage's state. */
export const enterCheck = (runId: string, state: CheckState | TaskState): Promise<Run> =>
  enter(runId, state, undefined);

/**
 * Stores the verdict of a check and returns the run's next state. The first verdict counts.
 * @param failure why the run cannot continue, for users
 * @param failedTasks names of the run tasks that failed the run
 * @throws {RunNotInStateError} if the run has ended
 */
export const recordVerdict = async <K extends keyof Verdicts>(
  run: Run,
  check: K,
  verdict: NonNullable<Verdicts[K]>,
  failure?: string,
  failedTasks?: string[],
): Promise<Run> => {
  const recorded = await updateRun(run.id, {
    set: { [`verdicts.${check}`]: verdict, failure, failedTasks },
    condition: `attribute_not_exists(verdicts.${check})`,
  });
  const current = recorded ?? (await getRun(run.id));
  if (!current?.verdicts?.[check]) throw new RunNotInStateError(run.id, check, current?.status ?? 'unknown');
  return current;
};

/** The output of a check's function for the machine. */
export const nextOutput = async (run: Run): Promise<{ next: Next }> => ({
  next: nextStep(await recheckAutomaticApply(run)),
});
