import { inBatches } from '#platform/store/batches.ts';
import { dueIn } from '#platform/store/due.ts';
import { update } from '#platform/store/table.ts';
import { keys } from '../keys.ts';
import { environmentsOf } from './records.ts';

/** Applies changed schedule rules of a template to its environments. */

const atOnce = 25;
/** Long enough for the template's new settings to be written. */
const soonSeconds = 10;

/**
 * Makes the sweep apply the new rules to each environment. 1 write per environment.
 * @param times timestamps to set to now: the last use, and the start of dormancy of dormant ones
 */
export const lookSoon = async (
  templateId: string,
  { used, dormant }: { used?: boolean | null | undefined; dormant?: boolean | null | undefined },
): Promise<void> => {
  const ids = await environmentsOf(templateId);
  const at = new Date().toISOString();
  const isFree = 'attribute_exists(pk) AND attribute_not_exists(deletedAt)';
  const look = async (id: string) => {
    await update(keys.environment(id), {
      set: { ...dueIn(id, soonSeconds), lastUsedAt: used ? at : undefined },
      condition: isFree,
    });
    if (dormant) {
      const condition = `${isFree} AND attribute_exists(dormantAt)`;
      await update(keys.environment(id), { set: { dormantAt: at }, condition });
    }
  };
  await inBatches(ids, atOnce, look);
};
