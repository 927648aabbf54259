import { inBatches } from '../../store/batches.ts';
import { dueIn } from '../../store/due.ts';
import { update } from '../../store/table.ts';
import { keys } from '../keys.ts';
import { environmentsOf } from './records.ts';

/** Environments of a template whose rules change. */

const atOnce = 25;
/** The template has its new settings by then. */
const soonSeconds = 10;

/**
 * Has the sweep look at each of them by the new rules. A write each.
 * @param times what counts as now: their last use, and since when dormant ones are dormant
 */
export const lookSoon = async (
  templateId: string,
  { used = false, dormant = false }: { used?: boolean; dormant?: boolean },
): Promise<void> => {
  const ids = await environmentsOf(templateId);
  const at = new Date().toISOString();
  const isFree = 'attribute_exists(pk) AND attribute_not_exists(deletedAt)';
  const look = async (id: string) => {
    await update(keys.environment(id), {
      set: { ...dueIn(id, soonSeconds), ...(used ? { lastUsedAt: at } : {}) },
      condition: isFree,
    });
    if (dormant) {
      const condition = `${isFree} AND attribute_exists(dormantAt)`;
      await update(keys.environment(id), { set: { dormantAt: at }, condition });
    }
  };
  await inBatches(ids, atOnce, look);
};
