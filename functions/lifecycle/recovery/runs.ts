import { finishRun, RunnerStillStoppingError } from '#lifecycle/phases/finish.ts';
import { notify } from '#lifecycle/phases/notifications.ts';
import { openRuns } from './open-runs.ts';

const cause = (restoredTo: string): string =>
  `The platform was restored to ${restoredTo}. What this run did after that is not recorded, so it cannot continue. ` +
  'Compare the state with what exists (a refresh-only run), then start a new run.';

/** Ends every unfinished run, including queued ones. @returns ids; `stopping`: runs whose runner has not stopped yet */
export const endRuns = async (restoredTo: string): Promise<{ ended: string[]; stopping: string[] }> => {
  const [ended, stopping]: [string[], string[]] = [[], []];
  // Newest first: a run that ends starts the next one in the queue.
  const runs = (await openRuns()).sort((a, b) => b.number - a.number);
  for (const run of runs) {
    const ending = run.apply.status === 'pending' ? 'PlanErrored' : 'ApplyErrored';
    try {
      const over = await finishRun(run.id, ending, { Error: 'DataRestored', Cause: cause(restoredTo) });
      if (over) await notify(over);
      ended.push(run.id);
    } catch (error) {
      if (!(error instanceof RunnerStillStoppingError)) throw error;
      stopping.push(run.id);
    }
  }
  return { ended, stopping };
};
