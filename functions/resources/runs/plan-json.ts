import { getLargeObject } from '#platform/store/bucket.ts';
import { checkContent } from '#platform/store/integrity.ts';
import { objects } from '#platform/store/keys.ts';
import type { Run } from '#run/run.ts';

/** With what is read from it, this takes 310 MB; functions have 512. */
export const maxPlanBytes = 128 * 1024 * 1024;

/**
 * The plan in JSON as the runner reported it; its size when that is beyond {@link maxPlanBytes}; undefined when it is gone.
 * @throws {DamagedContentError} when it is not what was reported
 */
export const readPlanJson = async ({ id, plan }: Run): Promise<Buffer | number | undefined> => {
  const json = await getLargeObject(objects.artifact(id, 'plan', 'plan-json'), maxPlanBytes);
  if (json instanceof Buffer)
    checkContent(`The plan of run ${id} in JSON`, json, plan.report?.checksums?.['plan-json']);
  return json;
};
