import { inBatches } from '#platform/store/batches.ts';
import { dueIn } from '#platform/store/due.ts';
import { updateRecord } from '#platform/store/records.ts';
import { keys } from '../keys.ts';
import { environmentsOf } from './records.ts';

/** Applies changed schedule rules of a template to its environments. */

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
  const look = async (id: string) => {
    const key = keys.environment(id);
    await updateRecord(key, { set: { ...dueIn(id, soonSeconds), lastUsedAt: used ? at : undefined } });
    if (dormant) await updateRecord(key, { set: { dormantAt: at }, condition: 'attribute_exists(dormantAt)' });
  };
  await inBatches(ids, look);
};
