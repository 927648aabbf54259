import * as v from 'valibot';
import { stopContainers } from './containers.ts';
import { stopOrphanedExecutions } from './executions.ts';
import { bringInNewerStates, type NewerStates } from './newer-states.ts';
import { endRuns } from './runs.ts';

/**
 * For operators, after the table was restored to an earlier time. Later changes are in the cloud, in the bucket and
 * in Step Functions, but not in the table: an old plan could be applied again, and a new plan would use an old state.
 * So this makes the latest states current again and ends all unfinished runs. Idempotent; invoke it again while
 * runners are stopping.
 */

const input = v.object({
  /** The time the table was restored to. */
  restoredTo: v.pipe(
    v.string(),
    v.isoTimestamp('must be a time, e.g. 2026-01-31T08:00:00Z'),
    v.check((text) => Date.parse(text) <= Date.now(), 'must not be in the future'),
  ),
});

export interface Recovered extends NewerStates {
  /** Recovery is complete; otherwise invoke the function again. */
  done: boolean;
  /** Containers that are still stopping. */
  runnersStopping: number;
  runsEnded: string[];
  /** Runs whose agents have not stopped yet. */
  runsStopping: string[];
  executionsStopped: string[];
  next: string;
}

/** @throws {Error} for invalid input */
export const handler = async (event: unknown): Promise<Recovered> => {
  const parsed = v.safeParse(input, event);
  if (!parsed.success) {
    const issues = parsed.issues.map((issue) => `${v.getDotPath(issue) ?? 'input'}: ${issue.message}`);
    throw new Error(`Send {"restoredTo": "…"}. ${issues.join('; ')}`);
  }
  const restoredTo = new Date(parsed.output.restoredTo).toISOString();
  // First, while runs still hold the workspaces' locks: no run may plan with an old state.
  const states = await bringInNewerStates(restoredTo);
  const runnersStopping = await stopContainers();
  const runs = runnersStopping > 0 ? { ended: [], stopping: [] } : await endRuns(restoredTo);
  const waits = runnersStopping + runs.stopping.length;
  return {
    done: waits === 0,
    ...states,
    runnersStopping,
    runsEnded: runs.ended,
    runsStopping: runs.stopping,
    executionsStopped: waits === 0 ? await stopOrphanedExecutions() : [],
    next:
      waits > 0
        ? 'Runners are stopping, which takes up to two minutes. Invoke this function again in a minute.'
        : 'Notify the users whose runs ended, and start a plan in each workspace that had one.',
  };
};
