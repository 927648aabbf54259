import { afterEach, describe, expect, it } from 'vitest';
import { DynamoDb } from '#infra/local/aws/dynamodb/dynamodb.ts';
import { Database } from '#infra/local/host/database.ts';
import { productTable } from '#test/support/table.ts';
import { temporaryFolder } from './support/functions.ts';

const open: Database[] = [];
afterEach(() => {
  for (const db of open.splice(0)) db.close();
});
const start = async (folder = temporaryFolder()) => {
  const database = Database.open(folder);
  open.push(database);
  const db = new DynamoDb(database);
  db.ensureTable(productTable('Table'));
  const call = (action: string, input: object) => db.handle(action, { TableName: 'Table', ...input });
  const put = (sk: string, more: object = {}) =>
    call('PutItem', { Item: { pk: { S: 'a' }, sk: { S: sk }, ...more } }).then(({ units }) => units.writeUnits);
  const due = async () =>
    (
      await call('Query', {
        IndexName: 'due',
        KeyConditionExpression: 'dueShard = :s',
        ExpressionAttributeValues: { ':s': { S: '0' } },
      })
    ).output.Items;
  return { database, db, folder, call, put, due };
};
const dueAt = (at: string) => ({ dueShard: { S: '0' }, dueAt: { S: at } });

describe('the table', () => {
  it('survives a restart with its items and index', async () => {
    const first = await start();
    await first.put('1', dueAt('t1'));
    open.pop()!.close();
    const second = await start(first.folder);
    expect((await second.call('GetItem', { Key: { pk: { S: 'a' }, sk: { S: '1' } } })).output.Item).toMatchObject({
      dueAt: { S: 't1' },
    });
    expect(await second.due()).toHaveLength(1);
  });

  it('lets one of several concurrent conditional writes win', async () => {
    const { call } = await start();
    const attempts = Array.from({ length: 20 }, (_, n) =>
      call('PutItem', {
        Item: { pk: { S: 'a' }, sk: { S: '1' }, n: { N: `${n}` } },
        ConditionExpression: 'attribute_not_exists(pk)',
      }).then(
        () => 'won',
        (error: Error) => error.name,
      ),
    );
    const outcomes = await Promise.all(attempts);
    expect(outcomes.filter((outcome) => outcome === 'won')).toHaveLength(1);
    expect(new Set(outcomes)).toEqual(new Set(['won', 'ConditionalCheckFailedException']));
  });

  it('updates the index with the item', async () => {
    const { call, due, put } = await start();
    const Key = { pk: { S: 'a' }, sk: { S: '1' } };
    await put('1', dueAt('t1'));
    await call('UpdateItem', {
      Key,
      UpdateExpression: 'SET dueAt = :t',
      ExpressionAttributeValues: { ':t': { S: 't2' } },
    });
    expect(await due()).toEqual([{ pk: { S: 'a' }, sk: { S: '1' }, ...dueAt('t2') }]);
    await call('UpdateItem', { Key, UpdateExpression: 'REMOVE dueAt, dueShard' });
    expect(await due()).toEqual([]);
    await put('1', dueAt('t3'));
    await call('DeleteItem', { Key });
    expect(await due()).toEqual([]);
  });
});

describe('request units', () => {
  it('of reads are 4 KB each, half when eventually consistent, one for a miss', async () => {
    const { call, put } = await start();
    await put('1', { x: { S: 'x'.repeat(5000) } });
    const get = async (sk: string, ConsistentRead: boolean) =>
      (await call('GetItem', { Key: { pk: { S: 'a' }, sk: { S: sk } }, ConsistentRead })).units.readUnits;
    expect([await get('1', true), await get('1', false), await get('none', true)]).toEqual([2, 1, 1]);
    const query = async (pk: string) =>
      (
        await call('Query', {
          KeyConditionExpression: 'pk = :p',
          ExpressionAttributeValues: { ':p': { S: pk } },
          ConsistentRead: true,
        })
      ).units;
    expect([await query('a'), await query('missing')]).toEqual([{ readUnits: 2 }, { readUnits: 1 }]);
  });

  it('of writes are 1 KB each, plus the index when its entry changes', async () => {
    const { put } = await start();
    expect(await put('1')).toBe(1);
    expect(await put('1', { x: { S: 'x'.repeat(1500) } })).toBe(2);
    expect(await put('2', dueAt('t1'))).toBe(2); // a new entry
    expect(await put('2', { ...dueAt('t1'), other: { S: 'x' } })).toBe(1); // the entry does not change
    expect(await put('2', dueAt('t2'))).toBe(3); // one entry is replaced by another
    expect(await put('2')).toBe(2); // the entry is deleted
  });

  it('are returned only on request', async () => {
    const { call } = await start();
    const Item = { pk: { S: 'a' }, sk: { S: '1' } };
    expect((await call('PutItem', { Item })).output).not.toHaveProperty('ConsumedCapacity');
    expect((await call('PutItem', { Item, ReturnConsumedCapacity: 'TOTAL' })).output).toMatchObject({
      ConsumedCapacity: { CapacityUnits: 1 },
    });
  });
});

describe('a cached expression', () => {
  const key = { pk: { S: 'a' }, sk: { S: '1' } };
  const change = (from: object, to: object, more: object = {}) => ({
    Key: key,
    UpdateExpression: 'SET #state = :to, #plan.#at = :to',
    ConditionExpression: 'NOT #state IN (:from, :to) OR (#state = :from AND attribute_exists(#plan))',
    ExpressionAttributeNames: { '#state': 'state', '#plan': 'plan', '#at': 'at' },
    ExpressionAttributeValues: { ':from': from, ':to': to },
    ReturnValues: 'ALL_NEW',
    ...more,
  });

  it('uses the values and names of its own call', async () => {
    const { call, put } = await start();
    await put('1', { state: { S: 'one' }, plan: { M: {} }, other: { M: {} } });
    for (const [from, to] of [
      [{ S: 'one' }, { S: 'two' }],
      [{ S: 'two' }, { S: 'three' }],
      [{ S: 'three' }, { N: '4' }],
    ] as const) {
      const { output } = await call('UpdateItem', change(from, to));
      expect(output.Attributes).toMatchObject({ state: to, plan: { M: { at: to } }, other: { M: {} } });
    }
    const stale = call('UpdateItem', change({ S: 'one' }, { N: '4' }));
    await expect(stale).rejects.toMatchObject({ name: 'ConditionalCheckFailedException' });
    const names = { '#state': 'state', '#plan': 'other', '#at': 'since' };
    const renamed = change({ N: '4' }, { S: 'five' }, { ExpressionAttributeNames: names });
    expect((await call('UpdateItem', renamed)).output.Attributes).toMatchObject({
      plan: { M: { at: { N: '4' } } },
      other: { M: { since: { S: 'five' } } },
    });
  });

  it('fails like the first time', async () => {
    const { call, put } = await start();
    await put('1', { state: { S: 'one' }, plan: { M: {} } });
    const from = { S: 'one' };
    for (const [more, words] of [
      [{ ExpressionAttributeValues: { ':from': from, ':to': from, ':odd': from } }, /unused in expressions.*:odd/],
      [{ ExpressionAttributeValues: { ':from': from } }, /not defined; attribute value: :to/],
      [{ ConditionExpression: 'begins_with(#state, :to) AND #plan = :from' }, /operand type: N/],
    ] as const) {
      const wrong = () => call('UpdateItem', change(from, { N: '1' }, more));
      await expect(wrong()).rejects.toThrow(words);
      await expect(wrong()).rejects.toThrow(words);
    }
  });
});

it('the table uses the error names of DynamoDB', async () => {
  const { call } = await start();
  await expect(call('GetItem', { TableName: 'Other', Key: { pk: { S: 'a' } } })).rejects.toMatchObject({
    name: 'ResourceNotFoundException',
    statusCode: 400,
  });
  await expect(call('GetItem', { Key: { pk: { N: '1' } } })).rejects.toMatchObject({ name: 'ValidationException' });
  await expect(call('TransactWriteItems', {})).rejects.toMatchObject({ name: 'UnknownOperationException' });
});

it('the table rejects unsupported calls and parameters by name', async () => {
  const { call, put } = await start();
  await put('1');
  const Key = { pk: { S: 'a' }, sk: { S: '1' } };
  const condition = { KeyConditionExpression: 'pk = :p', ExpressionAttributeValues: { ':p': { S: 'a' } } };
  for (const [action, input, name] of [
    ['GetItem', { Key, ProjectionExpression: 'pk' }, 'ProjectionExpression'],
    ['GetItem', { Key, AttributesToGet: ['pk'] }, 'AttributesToGet'],
    ['PutItem', { Item: Key, Expected: {} }, 'Expected'],
    ['PutItem', { Item: Key, ReturnValues: 'ALL_NEW' }, 'ReturnValues'],
    ['UpdateItem', { Key, ReturnValues: 'UPDATED_NEW' }, 'ReturnValues'],
    ['UpdateItem', { Key, AttributeUpdates: {} }, 'AttributeUpdates'],
    ['Query', { ...condition, KeyConditions: {} }, 'KeyConditions'],
    ['Query', { ...condition, Select: 'SPECIFIC_ATTRIBUTES' }, 'Select'],
    ['Scan', { Segment: 0, TotalSegments: 2 }, 'Segment'],
  ] as const)
    await expect(call(action, input)).rejects.toMatchObject({
      name: 'ValidationException',
      message: expect.stringContaining(name),
    });
});

it('the table rejects reserved words, items and keys like DynamoDB', async () => {
  const { call, put } = await start();
  const Key = { pk: { S: 'a' }, sk: { S: '1' } };
  const update = (UpdateExpression: string, more: object = {}) =>
    call('UpdateItem', { Key, UpdateExpression, ...more });
  await expect(update('REMOVE status')).rejects.toThrow('reserved keyword: status');
  await expect(update('REMOVE a.b, a')).rejects.toThrow('overlap');
  await expect(update('SET sk = sk')).rejects.toThrow('This attribute is part of the key');
  await expect(put('1', { x: { S: 'x'.repeat(400 * 1024) } })).rejects.toThrow('maximum allowed size');
  await expect(put('')).rejects.toThrow('empty string');
  await expect(put('x'.repeat(1025))).rejects.toThrow('1024 bytes');
  await expect(put('1', dueAt(''))).rejects.toThrow('secondary index key');
  await expect(put('1', { n: { N: 'one' } })).rejects.toThrow('numeric value');
});

it('a query finds all sort keys with a prefix', async () => {
  const { call, put } = await start();
  for (const sk of ['a', 'a\u{10ffff}', 'a\u{10ffff}b', 'b', '\u{d7ff}x', '\u{e000}']) await put(sk);
  const beginning = async (prefix: string) =>
    (
      (
        await call('Query', {
          KeyConditionExpression: 'pk = :p AND begins_with(sk, :s)',
          ExpressionAttributeValues: { ':p': { S: 'a' }, ':s': { S: prefix } },
        })
      ).output.Items as { sk: { S: string } }[]
    ).map(({ sk }) => sk.S);
  expect(await beginning('a')).toEqual(['a', 'a\u{10ffff}', 'a\u{10ffff}b']);
  expect(await beginning('a\u{10ffff}')).toEqual(['a\u{10ffff}', 'a\u{10ffff}b']);
  expect(await beginning('\u{d7ff}')).toEqual(['\u{d7ff}x']);
});

it('a read waits for writes to its partition that are not on disk yet, and for no others', async () => {
  const { database, db, call, put, due } = await start();
  await put('1');
  const reads = {
    item: () => call('GetItem', { Key: { pk: { S: 'a' }, sk: { S: '1' } } }),
    batch: () => db.handle('BatchGetItem', { RequestItems: { Table: { Keys: [{ pk: { S: 'a' }, sk: { S: '1' } }] } } }),
    query: () => call('Query', { KeyConditionExpression: 'pk = :p', ExpressionAttributeValues: { ':p': { S: 'a' } } }),
    index: due,
    scan: () => call('Scan', {}),
  };
  /** Whether the response comes while writes are waiting for the end of this turn. */
  const isImmediate = async (write: Promise<unknown>, read: () => Promise<unknown>) => {
    const seen = await read().then(() => database.written() !== undefined);
    await write;
    return seen;
  };
  const other = () => call('PutItem', { Item: { pk: { S: 'b' }, sk: { S: '1' } } });
  const results: Record<string, boolean[]> = {};
  for (const [name, read] of Object.entries(reads))
    results[name] = [await isImmediate(put('2'), read), await isImmediate(other(), read)];
  expect(results).toEqual({
    item: [false, true],
    batch: [false, true],
    query: [false, true],
    index: [false, false],
    scan: [false, false],
  });
  expect(await isImmediate(call('DeleteItem', { Key: { pk: { S: 'a' }, sk: { S: '2' } } }), reads.query)).toBe(false);
});

it('a new index is filled with existing items', async () => {
  const folder = temporaryFolder();
  const database = Database.open(folder);
  open.push(database);
  const db = new DynamoDb(database);
  const { ref, properties } = productTable('Table');
  db.ensureTable({ ref, properties: { ...properties, GlobalSecondaryIndexes: [] } });
  const Item = { pk: { S: 'a' }, sk: { S: '1' }, ...dueAt('t1') };
  await db.handle('PutItem', { TableName: 'Table', Item });
  open.pop()!.close();
  expect(await (await start(folder)).due()).toEqual([Item]);
});
