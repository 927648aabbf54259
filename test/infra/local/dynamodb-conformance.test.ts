import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DynamoDb } from '#infra/local/aws/dynamodb/dynamodb.ts';
import { productTable } from '#test/support/table.ts';
import { Dynalite } from './support/dynalite/dynalite.ts';

/** The local DynamoDB answers like another implementation, call by call: outputs, units, names and texts of errors. */

type Call = [action: string, input: Record<string, unknown>];

const text = fc.constantFrom('a', 'b', 'ab', 'abc', 'é', '~', '\u{10ffff}', 'B');
const number = fc.constantFrom('0', '1', '-1', '2', '10', '0.5', '1e3', '-0.0100', '12345678901234567890');
const scalar = fc.oneof(
  text.map((S) => ({ S })),
  number.map((N) => ({ N })),
  fc.boolean().map((BOOL) => ({ BOOL })),
  fc.constant({ NULL: true }),
  fc.constant({ B: 'AQID' }),
);
const string = text.map((S) => ({ S }));
const set = fc.oneof(
  fc.uniqueArray(text, { minLength: 1, maxLength: 3 }).map((SS) => ({ SS })),
  fc.uniqueArray(fc.constantFrom('1', '2', '3'), { minLength: 1 }).map((NS) => ({ NS })),
);
const value = fc.oneof(
  { weight: 4, arbitrary: scalar },
  set,
  fc.array(scalar, { maxLength: 3 }).map((L) => ({ L })),
  fc.record({ x: scalar, status: scalar }, { requiredKeys: [] }).map((M) => ({ M })),
);

const pk = fc.constantFrom('P', 'Q');
const sk = fc.constantFrom('1', '10', '2', 'é', 'z');
const key = fc.record({ pk: pk.map((S) => ({ S })), sk: sk.map((S) => ({ S })) });
const attribute = fc.constantFrom('a', 'm', 'l', 's', 'n');
const due = fc.record({
  dueShard: fc.constant({ S: '0' }),
  dueAt: fc.constantFrom('t1', 't2', 't3').map((S) => ({ S })),
});
const item = fc
  .tuple(key, fc.dictionary(attribute, value, { maxKeys: 4 }), fc.option(due), fc.boolean())
  .map(([own, more, entry, isLarge]) => ({
    ...own,
    ...more,
    ...entry,
    ...(isLarge ? { large: { S: 'x'.repeat(1500) } } : {}),
  }));

const path = fc.constantFrom('#a', '#m', '#m.x', '#m.#s', '#l[0]', '#l[1]', '#n', '#m.y', '#t');
// Where the other one is known to differ from AWS nothing is asked: attributes that are both missing, and whether lists and maps are equal.
const operand = fc.oneof(
  { weight: 3, arbitrary: path },
  path.map((one) => `size(${one})`),
);
const comparison = fc
  .tuple(operand, fc.constantFrom('=', '<>', '<', '<=', '>', '>='), fc.constantFrom(':w', ':n'))
  .map(([left, comparator, right]) => `${left} ${comparator} ${right}`);
const simple = fc.oneof(
  comparison,
  path.map((one) => `${one} = ${one}`),
  path.map((one) => `attribute_exists(${one})`),
  path.map((one) => `attribute_not_exists(${one})`),
  fc.tuple(path, fc.constantFrom(':v', ':w')).map(([one, other]) => `begins_with(${one}, ${other})`),
  fc.tuple(path, fc.constantFrom(':n', ':w')).map(([one, other]) => `contains(${one}, ${other})`),
  path.map((one) => `${one} BETWEEN :n AND :m`),
  path.map((one) => `${one} BETWEEN :m AND :n`),
  path.map((one) => `${one} IN (:w, :n)`),
);
const condition = fc.oneof(
  simple,
  simple.map((one) => `NOT ${one}`),
  fc.tuple(simple, simple).map(([one, other]) => `${one} and ${other}`),
  fc.tuple(simple, simple, simple).map(([one, other, third]) => `(${one} OR ${other}) AND NOT (${third})`),
);
const term = fc.oneof(
  fc.constantFrom(':v', ':w', ':n'),
  path,
  path.map((one) => `if_not_exists(${one}, :v)`),
  path.map((one) => `${one} + :n`),
  path.map((one) => `if_not_exists(${one}, :n) - :n`),
  path.map((one) => `list_append(${one}, :list)`),
);
const clause = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .array(fc.tuple(path, term), { minLength: 1, maxLength: 2 })
      .map((all) => `SET ${all.map(([one, to]) => `${one} = ${to}`).join(', ')}`),
  },
  path.map((one) => `REMOVE ${one}`),
  fc.tuple(path, fc.constantFrom(':n', ':set')).map(([one, by]) => `ADD ${one} ${by}`),
  path.map((one) => `DELETE ${one} :set`),
);
const update = fc.oneof(
  clause,
  fc.tuple(clause, clause).map((both) => both.join(' ')),
);

const names: Record<string, string> = { '#a': 'a', '#m': 'm', '#l': 'l', '#n': 'n', '#s': 'status', '#t': 's' };
const values = (v: object, w: object): Record<string, object> => ({
  ':v': v,
  ':w': w,
  ':n': { N: '5' },
  ':m': { N: '10' },
  ':list': { L: [{ S: 'new' }] },
  ':set': { SS: ['a', 'new'] },
});

/** With what its expressions use of names and values, and nothing else. */
const complete = (input: Record<string, unknown>, v: object, w: object): Record<string, unknown> => {
  const expressions = Object.entries(input).flatMap(([name, content]) =>
    /Expression$/.test(name) ? [String(content)] : [],
  );
  const used = (all: Record<string, unknown>) => {
    const some = Object.entries(all).filter(([name]) => new RegExp(`${name}\\b`).test(expressions.join(' ')));
    return some.length ? Object.fromEntries(some) : undefined;
  };
  return JSON.parse(
    JSON.stringify({
      ...input,
      ExpressionAttributeNames: used(names),
      ExpressionAttributeValues: used({ ...values(v, w), ':p': { S: 'P' }, ':q': { S: 'Q' } }),
    }),
  );
};

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

const write: fc.Arbitrary<Call> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .tuple(item, optional(condition), value, string)
      .map(
        ([Item, ConditionExpression, v, w]): Call => [
          'PutItem',
          complete({ Item, ConditionExpression, ReturnValues: 'ALL_OLD' }, v, w),
        ],
      ),
  },
  {
    weight: 5,
    arbitrary: fc
      .tuple(key, update, optional(condition), value, string)
      .map(
        ([Key, UpdateExpression, ConditionExpression, v, w]): Call => [
          'UpdateItem',
          complete({ Key, UpdateExpression, ConditionExpression, ReturnValues: 'ALL_NEW' }, v, w),
        ],
      ),
  },
  fc
    .tuple(key, optional(condition), value, string)
    .map(
      ([Key, ConditionExpression, v, w]): Call => [
        'DeleteItem',
        complete({ Key, ConditionExpression, ReturnValues: 'ALL_OLD' }, v, w),
      ],
    ),
  fc
    .uniqueArray(item, { minLength: 1, maxLength: 3, selector: ({ pk: p, sk: s }) => `${p.S} ${s.S}` })
    .map(
      (items): Call => ['BatchWriteItem', { RequestItems: { Table: items.map((Item) => ({ PutRequest: { Item } })) } }],
    ),
);
const sortCondition = fc.constantFrom(
  '',
  ' AND sk = :v',
  ' AND sk > :v',
  ' AND :v >= sk',
  ' AND begins_with(sk, :v)',
  ' AND sk BETWEEN :v AND :w',
  ' AND sk <> :v',
);
const read: fc.Arbitrary<Call> = fc.oneof(
  fc.tuple(key, fc.boolean()).map(([Key, ConsistentRead]): Call => ['GetItem', { Key, ConsistentRead }]),
  fc.tuple(sortCondition, optional(fc.integer({ min: 1, max: 3 })), fc.boolean(), text, text, optional(key)).map(
    ([sort, Limit, ScanIndexForward, v, w, ExclusiveStartKey]): Call => [
      'Query',
      complete(
        {
          KeyConditionExpression: `pk = :p${sort}`,
          Limit,
          ScanIndexForward,
          ExclusiveStartKey,
          ConsistentRead: true,
        },
        { S: v },
        { S: w },
      ),
    ],
  ),
  fc
    .tuple(fc.constantFrom('', ' AND dueAt <= :v'), optional(fc.integer({ min: 1, max: 3 })))
    .map(
      ([sort, Limit]): Call => [
        'Query',
        complete(
          { IndexName: 'due', KeyConditionExpression: `dueShard = :zero${sort}`.replace(':zero', ':q'), Limit },
          { S: 't2' },
          { S: '' },
        ),
      ],
    ),
  fc
    .uniqueArray(key, { minLength: 1, maxLength: 3, selector: (one) => JSON.stringify(one) })
    .map((Keys): Call => ['BatchGetItem', { RequestItems: { Table: { Keys, ConsistentRead: true } } }]),
);

type Answers = { output: Record<string, unknown>; units: object } | { error: string; message: string };

const keyText = ({ pk: { S: p }, sk: { S: s } }: { pk: { S: string }; sk: { S: string } }): string => `${p} ${s}`;

/** Sets and batches have no order, and syntax errors are told in words of one's own. */
const comparable = (answers: Answers): unknown =>
  JSON.parse(JSON.stringify(answers), (name, part) => {
    if (/^[SNB]S$/.test(name)) return part.toSorted();
    if (name === 'Table' && Array.isArray(part)) return part.toSorted((a, b) => (keyText(a) < keyText(b) ? -1 : 1));
    if (part && typeof part === 'object' && !Array.isArray(part))
      return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
    return part;
  });

const perform = async (db: { handle: DynamoDb['handle'] }, [action, input]: Call): Promise<Answers> => {
  const TableName = action.startsWith('Batch') ? {} : { TableName: 'Table' };
  try {
    return await db.handle(action, structuredClone({ ...TableName, ...input }));
  } catch (error) {
    return { error: (error as Error).name, message: (error as Error).message };
  }
};

it('responds to any sequence of calls like another implementation', { timeout: 600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(write, write, read), { minLength: 1, maxLength: 25 }), async (calls) => {
      const [own, other] = [await DynamoDb.open(), new Dynalite()];
      try {
        own.ensureTable(productTable('Table'));
        await other.ensureTable(productTable('Table'));
        for (const call of calls) {
          const [actual, expected] = [await perform(own, call), await perform(other, call)];
          if ('error' in expected) expect(actual, JSON.stringify(call)).toMatchObject({ error: expected.error });
          else expect(comparable(actual), JSON.stringify(call)).toEqual(comparable(expected));
        }
      } finally {
        own.close();
        await other.close();
      }
    }),
    { numRuns: 300 },
  );
});
