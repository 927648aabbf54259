import type { TableProperties } from '#infra/local/aws/dynamodb/dynamodb.ts';

/** The product's table. */
export const productTable = (ref: string): { ref: string; properties: TableProperties } => ({
  ref,
  properties: {
    AttributeDefinitions: ['pk', 'sk', 'dueShard', 'dueAt', 'changedIn', 'changedAt'].map((AttributeName) => ({
      AttributeName,
      AttributeType: 'S',
    })),
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
    GlobalSecondaryIndexes: [
      ['due', 'dueShard', 'dueAt'],
      ['changed', 'changedIn', 'changedAt'],
    ].map(([name = '', partition = '', sort = '']) => ({
      IndexName: name,
      KeySchema: [
        { AttributeName: partition, KeyType: 'HASH' },
        { AttributeName: sort, KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'KEYS_ONLY' },
    })),
  },
});
