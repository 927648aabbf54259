import { create, get, updateExisting } from '#platform/store/table.ts';
import type { Run } from '#run/run.ts';
import { type Job, outcomeOf } from '../jobs.ts';
import { keys } from '../keys.ts';
import { runsOf } from './import.ts';
import { ImportError, resourcesIn, type TemplateResource } from './plan.ts';
import { readPlan } from './read-plan.ts';

/** Dry runs: the resources that an environment would have with the given parameters. */

export interface DryRun extends Job {
  versionId: string;
  resources?: TemplateResource[];
}

const keptSeconds = 7 * 24 * 3600;

export const createDryRun = async (dryRun: DryRun): Promise<void> => {
  const expiresAt = Math.floor(Date.now() / 1000) + keptSeconds;
  await create({ ...keys.dryRun(dryRun.versionId, dryRun.jobId), ...dryRun, expiresAt });
};

/** Undefined for a dry run of another version. */
export const dryRunById = (versionId: string, jobId: string): Promise<DryRun | undefined> =>
  get<DryRun>(keys.dryRun(versionId, jobId));

/** The current state of the dry run; records its end when its run has ended. */
export const settleDryRun = async (dryRun: DryRun): Promise<{ dryRun: DryRun; runs: Run[] }> => {
  const runs = await runsOf(dryRun);
  if (dryRun.completedAt) return { dryRun, runs };
  const outcome = outcomeOf(dryRun, runs);
  const [run] = runs;
  if (!outcome || !run) return { dryRun, runs };
  let resources: TemplateResource[] | undefined;
  if (!outcome.error && !outcome.canceledAt) {
    try {
      resources = resourcesIn(await readPlan(run));
    } catch (error) {
      if (!(error instanceof ImportError)) throw error;
      outcome.error = error.message;
    }
  }
  const completed = await updateExisting<DryRun>(keys.dryRun(dryRun.versionId, dryRun.jobId), {
    set: { ...outcome, resources },
    condition: 'attribute_not_exists(completedAt)',
  });
  return { dryRun: completed ?? (await dryRunById(dryRun.versionId, dryRun.jobId)) ?? dryRun, runs };
};
