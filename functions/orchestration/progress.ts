import { type Attempt, notSuperseded, orderOf } from '../run/attempts.ts';
import type { Verdicts } from '../run/check-record.ts';
import { exitOnEntry, type Next, nextStep } from '../run/lifecycle.ts';
import { type CheckState, entryOf, type RunState, type TaskState, type WaitingState } from '../run/machine-states.ts';
import type { Run } from '../run/run.ts';
import { getRun, statusChange, updateRun } from '../runs/records.ts';
import { dueIn } from '../store/due.ts';
import { deliver } from './execution.ts';

/** What the machine's states do to the run's item. */

/** The machine is ahead of or behind the run, e.g. a redrive of a run that has ended: caught, and finished. */
export class RunNotInStateError extends Error {
  override name = 'RunNotInStateError';
  constructor(runId: string, state: string, status: string) {
    super(`run ${runId} is ${status} and cannot enter ${state}`);
  }
}

interface Entering {
  /** What is set beside the status. */
  extra?: (run: Run) => Record<string, unknown>;
  /** Looks once more at what decides whether the run may enter. */
  recheck?: (run: Run) => Promise<Run>;
}

/** How often somebody else may change the status between read and write. */
const tries = 4;

const enter = async (
  runId: string,
  state: RunState,
  attempt: Attempt | undefined,
  { extra = () => ({}), recheck = async (run) => run }: Entering = {},
): Promise<Run> => {
  const order = attempt && orderOf(attempt);
  const last = notSuperseded('wait.order', order);
  let status = 'missing';
  for (let i = 0; i < tries; i++) {
    const found = await getRun(runId);
    if (!found) throw new Error(`run ${runId} does not exist`);
    const before = await recheck(found);
    status = before.status;
    const entry = entryOf(state, before);
    const repeat = status === entry.status;
    // The tasks of a stage all enter it; the first one has.
    if (repeat && !attempt && before.wait?.state === state) return before;
    if (order && (before.wait?.order ?? '') > order) break;
    if (!repeat && !entry.from.includes(before.status)) break;
    const away = exitOnEntry(state, before) !== undefined;
    const run = await updateRun(runId, {
      set: {
        ...(repeat || away ? {} : statusChange(entry, before, new Date().toISOString())),
        ...(away ? {} : extra(before)),
        wait: attempt ? { state, token: attempt.token, order } : { state },
        ...dueIn(runId, entry.lookAfterSeconds),
      },
      condition: ['#status = :expected', last.condition].filter(Boolean).join(' AND '),
      values: { ':expected': before.status, ...last.values },
    });
    if (run) return run;
  }
  throw new RunNotInStateError(runId, state, status);
};

/**
 * Enters a waiting state of the machine: status, timeline and token in one write; then, if the answer came before the
 * token, delivers it. Entering again with a new token is a repeat. A state that the run is turned away from keeps the
 * token only, and the answer says where to go instead.
 * @throws {RunNotInStateError} when the run is elsewhere, or final, or another attempt has been made since
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

/** Enters a state whose function does the work, or, from each of its tasks, one that runs a stage's tasks. */
export const enterCheck = (runId: string, state: CheckState | TaskState): Promise<Run> =>
  enter(runId, state, undefined);

/**
 * Keeps how a check went, and says where the run goes next. The first verdict counts.
 * @param failure why the run cannot go on, for people
 * @throws {RunNotInStateError} when the run has ended
 */
export const recordVerdict = async <K extends keyof Verdicts>(
  run: Run,
  check: K,
  verdict: NonNullable<Verdicts[K]>,
  failure?: string,
): Promise<Run> => {
  const recorded = await updateRun(run.id, {
    set: { [`verdicts.${check}`]: verdict, failure },
    condition: `attribute_not_exists(verdicts.${check})`,
  });
  const current = recorded ?? (await getRun(run.id));
  if (!current?.verdicts?.[check]) throw new RunNotInStateError(run.id, check, current?.status ?? 'unknown');
  return current;
};

/** What a check's function gives the machine. */
export const nextOutput = (run: Run): { next: Next } => ({ next: nextStep(run) });
