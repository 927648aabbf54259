import { readPlanJson } from '#resources/runs/plan-json.ts';
import type { Run } from '#run/run.ts';
import { ImportError, type Plan } from './plan.ts';

/** The JSON plan of a run. @throws {ImportError} when it was deleted or is too large */
export const readPlan = async (run: Run): Promise<Plan> => {
  const json = await readPlanJson(run);
  if (json instanceof Buffer) return JSON.parse(json.toString('utf8')) as Plan;
  throw new ImportError(json === undefined ? 'The plan was deleted.' : 'The plan is too large.');
};
