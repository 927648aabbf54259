import { getObject, putObject } from '#platform/store/bucket.ts';
import { objects } from '#platform/store/keys.ts';
import type { Run } from '#run/run.ts';
import type { Details } from './details.ts';

/** Costs by resource of an estimate: an object beside the plan, because it may be large. */

export const putCostDetails = (runId: string, details: Details): Promise<void> =>
  putObject(objects.costEstimate(runId), JSON.stringify(details), 'application/json');

/** Undefined unless the run has a finished estimate. */
export const getCostDetails = async ({ id, costEstimate }: Run): Promise<Details | undefined> => {
  if (costEstimate?.status !== 'finished') return undefined;
  const object = await getObject(objects.costEstimate(id));
  return object && (JSON.parse(object.toString('utf8')) as Details);
};
