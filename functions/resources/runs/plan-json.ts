import { getLargeObject } from '#platform/store/bucket.ts';
import { checkContent } from '#platform/store/integrity.ts';
import { objects } from '#platform/store/keys.ts';
import { hexOf } from '#run/phase-report.ts';
import type { Run } from '#run/run.ts';

/** A plan of this size takes 310 MB when parsed; functions have 512 MB. */
export const maxPlanBytes = 128 * 1024 * 1024;

/**
 * The JSON plan reported by the runner; its size when it exceeds {@link maxPlanBytes}; undefined when it was deleted.
 * @throws {DamagedContentError} when its checksum differs from the report
 */
export const readPlanJson = async ({ id, plan }: Run): Promise<Buffer | number | undefined> => {
  const json = await getLargeObject(objects.artifact(id, 'plan', 'plan-json'), maxPlanBytes);
  const checksum = plan.report?.artifacts?.['plan-json'];
  if (json instanceof Buffer) checkContent(`The plan of run ${id} in JSON`, json, checksum && hexOf(checksum));
  return json;
};
