import { createHash } from 'node:crypto';
import { getObject, putObject } from '#platform/store/bucket.ts';
import { newId } from '#platform/store/id.ts';
import { objects } from '#platform/store/keys.ts';
import type { TagLevel } from '#run/task-stages.ts';
import type { TaskResult } from './results.ts';

/**
 * Outcomes of task results: all of one result in one object of the bucket, another one after each change, which the
 * result names; so the result's own conditional write decides which of two changes at once is made first.
 */
export interface Outcome {
  id: string;
  /** What the task calls it. */
  outcomeId: string;
  description: string;
  /** Markdown from the task: untrusted. */
  body: string | null;
  url: string | null;
  tags: { label: string; value: { label: string; level: TagLevel }[] }[];
  createdAt: string;
}

export type NewOutcome = Omit<Outcome, 'id' | 'createdAt'>;

/** Most a result may have, and most bytes they may have together. */
export const maxOutcomes = 250;
export const maxOutcomeBytes = 5 * 1024 * 1024;

const form = /^tro-([A-Za-z0-9]{25})[0-9a-f]{10}$/;

/** Begins with the characters of its result, so that finding that costs nothing. */
const idOf = (resultId: string, outcomeId: string): string => {
  const hash = createHash('sha256').update(outcomeId).digest('hex').slice(0, 10);
  return `${resultId.replace(/^taskrs-/, 'tro-')}${hash}`;
};

/** The result that an outcome's id can only be of. */
export const resultIdOfOutcome = (id: string): string | undefined => {
  const [, characters] = form.exec(id) ?? [];
  return characters && `taskrs-${characters}`;
};

/** In the order in which they were first told. 1 bucket request when there are any. */
export const readOutcomes = async ({ outcomesKey }: TaskResult): Promise<Outcome[]> => {
  const object = outcomesKey && (await getObject(outcomesKey));
  return object ? (JSON.parse(object.toString('utf8')) as Outcome[]) : [];
};

/**
 * Puts outcomes beside those that were told before; one with the same name replaces what was said. Returns what the
 * result is to say of them; a number when they would be too many, a size in bytes when too large.
 */
export const keepOutcomes = async (
  result: TaskResult,
  outcomes: NewOutcome[],
): Promise<{ outcomesKey: string; outcomeCount: number } | { tooMany: number } | { tooLarge: number }> => {
  const createdAt = new Date().toISOString();
  const all = new Map((await readOutcomes(result)).map((outcome) => [outcome.id, outcome]));
  for (const outcome of outcomes) {
    const id = idOf(result.id, outcome.outcomeId);
    all.set(id, { ...outcome, id, createdAt: all.get(id)?.createdAt ?? createdAt });
  }
  if (all.size > maxOutcomes) return { tooMany: all.size };
  const content = JSON.stringify([...all.values()]);
  if (Buffer.byteLength(content) > maxOutcomeBytes) return { tooLarge: Buffer.byteLength(content) };
  const outcomesKey = objects.outcomes(result.runId, result.id, newId('v'));
  await putObject(outcomesKey, content, 'application/json');
  return { outcomesKey, outcomeCount: all.size };
};
