import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { DynamoDb } from '#infra/local/aws/dynamodb/dynamodb.ts';
import { Database } from '#infra/local/host/database.ts';
import { productTable } from '#test/support/table.ts';

/**
 * Sequences of calls with the responses of an independent implementation (dynalite 4.0.0), each on an empty table:
 * outputs, units and names of errors. They were chosen from 1,500 generated ones so that they reach every branch of
 * infra/local/aws/dynamodb that those reach, and every kind of response.
 */
const sequences = readFileSync(new URL('./support/dynamodb-answers.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line.replaceAll('<1500 x>', 'x'.repeat(1500))) as [Call, Answer][]);

type Call = [action: string, input: Record<string, unknown>];
type Answer = { output: Record<string, unknown>; units: object } | { error: string };

const keyText = ({ pk, sk }: { pk: { S: string }; sk: { S: string } }): string => `${pk.S} ${sk.S}`;

/** Sets and batches have no order. */
const comparable = (answer: Answer): unknown =>
  JSON.parse(JSON.stringify(answer), (name, part) => {
    if (/^[SNB]S$/.test(name)) return part.toSorted();
    if (name === 'Table' && Array.isArray(part)) return part.toSorted((a, b) => (keyText(a) < keyText(b) ? -1 : 1));
    return part;
  });

const perform = async (db: DynamoDb, [action, input]: Call): Promise<Answer> => {
  const table = action.startsWith('Batch') ? {} : { TableName: 'Table' };
  try {
    return await db.handle(action, { ...table, ...structuredClone(input) });
  } catch (error) {
    return { error: (error as Error).name };
  }
};

it.each(sequences.map((calls, index) => ({ index, calls })))(
  'the table gives the recorded responses to sequence $index',
  async ({ calls }) => {
    const db = new DynamoDb(Database.inMemory());
    db.ensureTable(productTable('Table'));
    for (const [call, expected] of calls)
      expect(comparable(await perform(db, call)), JSON.stringify(call)).toEqual(expected);
  },
);
