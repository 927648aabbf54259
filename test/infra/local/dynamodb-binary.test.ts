import { expect, it } from 'vitest';
import { decodeBinary } from '#infra/local/aws/dynamodb/binary.ts';
import { DynamoDb } from '#infra/local/aws/dynamodb/dynamodb.ts';
import { Database } from '#infra/local/host/database.ts';

const database = new DynamoDb(Database.inMemory());
database.ensureTable({
  ref: 'T',
  properties: {
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
  },
});

const bytes = new Uint8Array([120, 0, 121]);
const values = (b: unknown) => ({
  pk: { S: 'A' },
  b: { B: b },
  set: { BS: [b] },
  list: { L: [{ M: { B: { B: b } } }] },
  map: { M: { B: { S: '"B":"' } } },
});
const wire = values('eAB5');
const Key = { pk: { S: 'A' } };

const call = async (action: string, input: object) =>
  (await database.handle(action, { TableName: 'T', ...input })).output;

it('the table accepts byte arrays and base64, and returns base64', async () => {
  for (const b of [bytes, Buffer.from(bytes), 'eAB5']) {
    await call('PutItem', { Item: values(b) });
    expect(await call('GetItem', { Key })).toEqual({ Item: wire });
  }
});

it.each([
  ['GetItem', { Key }, { Item: values(bytes) }],
  [
    'BatchGetItem',
    { TableName: undefined, RequestItems: { T: { Keys: [Key] } } },
    { Responses: { T: [values(bytes)] } },
  ],
  [
    'Query',
    { KeyConditionExpression: 'pk = :a', ExpressionAttributeValues: { ':a': { S: 'A' } } },
    { Items: [values(bytes)] },
  ],
  ['Scan', {}, { Items: [values(bytes)] }],
  ['PutItem', { Item: { pk: { S: 'A' } }, ReturnValues: 'ALL_OLD' }, { Attributes: values(bytes) }],
  [
    'UpdateItem',
    {
      Key,
      UpdateExpression: 'SET #c = :c',
      ExpressionAttributeNames: { '#c': 'c' },
      ExpressionAttributeValues: { ':c': { B: bytes } },
      ReturnValues: 'ALL_NEW',
    },
    { Attributes: { ...values(bytes), c: { B: bytes } } },
  ],
])('a caller that gets objects instead of JSON gets byte arrays: %s', async (action, input, output) => {
  await call('PutItem', { Item: values(bytes) });
  expect(decodeBinary(await call(action, input))).toMatchObject(output);
});
