import { createHash } from 'node:crypto';
import { getObject, putObject } from '#platform/store/bucket.ts';
import { newId } from '#platform/store/id.ts';
import { objects } from '#platform/store/keys.ts';
import type { TagLevel } from '#run/task-stages.ts';
import type { TaskResult } from './results.ts';

/**
 * Outcomes of task results. All outcomes of a result are in one object of the bucket; each change writes a new
 * object, whose key the result stores, so that the result's conditional write orders concurrent changes.
 */
export interface Outcome {
  id: string;
  /** The task's own id of it. */
  outcomeId: string;
  description: string;
  /** Untrusted Markdown from the task. */
  body: string | null;
  url: string | null;
  tags: { label: string; value: { label: string; level: TagLevel }[] }[];
  createdAt: string;
}

export type NewOutcome = Omit<Outcome, 'id' | 'createdAt'>;

/** Maximum number of outcomes of a result, and their maximum size in bytes. */
export const maxOutcomes = 250;
export const maxOutcomeBytes = 5 * 1024 * 1024;

const form = /^tro-([A-Za-z0-9]{25})[0-9a-f]{10}$/;

/** Starts with the characters of its result's id, so that finding the result takes no read. */
const idOf = (resultId: string, outcomeId: string): string => {
  const hash = createHash('sha256').update(outcomeId).digest('hex').slice(0, 10);
  return `${resultId.replace(/^taskrs-/, 'tro-')}${hash}`;
};

export const resultIdOfOutcome = (id: string): string | undefined => {
  const [, characters] = form.exec(id) ?? [];
  return characters && `taskrs-${characters}`;
};

/** In the order of their first report. 1 bucket request if there are any. */
export const readOutcomes = async ({ outcomesKey }: TaskResult): Promise<Outcome[]> => {
  const object = outcomesKey && (await getObject(outcomesKey));
  return object ? (JSON.parse(object.toString('utf8')) as Outcome[]) : [];
};

/**
 * Merges outcomes into the stored ones; one with the same id replaces the former. Returns the attributes to write to
 * the result; a count when there are too many outcomes, a size in bytes when they are too large.
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
