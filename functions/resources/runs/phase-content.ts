import { objectSize, putObject } from '#platform/store/bucket.ts';
import { type Key, keys, objects } from '#platform/store/keys.ts';
import { type Change, queryAll, remove, update } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { artifacts } from '#run/phase-report.ts';
import type { PhaseName, Run } from '#run/run.ts';
import { runOf } from './records.ts';

/**
 * Stored content of plans and applies: logs, plan files and their JSON. Only for runs that have ended, which no
 * longer use it. The run's item stays. Each function returns undefined when the content's status does not allow the
 * change.
 */

const soft = 'soft_deleted';
const deleted = 'permanently_deleted';

const change = async ({ id }: Run, changes: Change): Promise<Run | undefined> => {
  const item = await update<Run>(keys.run(id), changes);
  return item && runOf(item);
};

/** Soft-deleted content cannot be read until it is restored. */
export const softDeletePhase = (run: Run, phase: PhaseName): Promise<Run | undefined> =>
  change(run, {
    set: { [`${phase}.content`]: soft, [`${phase}.contentDeletedAt`]: now() },
    condition: `attribute_exists(pk) AND attribute_not_exists(${phase}.content)`,
  });

export const restorePhase = (run: Run, phase: PhaseName): Promise<Run | undefined> =>
  change(run, {
    remove: [`${phase}.content`, `${phase}.contentDeletedAt`],
    condition: `${phase}.content = :soft`,
    values: { ':soft': soft },
  });

/** Empties the objects; the bucket expires their previous versions. Can be repeated. */
export const purgePhase = async (run: Run, phase: PhaseName): Promise<Run | undefined> => {
  const purged = await change(run, {
    set: { [`${phase}.content`]: deleted },
    condition: `${phase}.content IN (:soft, :gone)`,
    values: { ':soft': soft, ':gone': deleted },
  });
  if (!purged) return undefined;
  for (const artifact of artifacts) {
    const key = objects.artifact(run.id, phase, artifact);
    if (await objectSize(key)) await putObject(key, '');
  }
  if (phase === 'apply') {
    const left = objects.leftState(run.id);
    if (await objectSize(left)) await putObject(left, '');
    // The function that purges has no right to look for states, so this may write an empty object where there was none.
    const mayBeThere = run.unsaved?.stored || run.apply.status === 'errored' || run.apply.status === 'canceled';
    if (mayBeThere) await putObject(objects.erroredState(run.workspaceId, run.id, run.unsaved?.copy), '');
  }
  const pieces = await queryAll<Key>({ pk: keys.log(run.id, phase, 0).pk });
  for (const { pk, sk } of pieces) await remove({ pk, sk });
  return purged;
};
