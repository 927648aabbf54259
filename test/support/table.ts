import type { TableProperties } from '#infra/local/aws/dynamodb/dynamodb.ts';

/** The product's table. */
export const productTable = (ref: string): { ref: string; properties: TableProperties } => ({
  ref,
  properties: {
    AttributeDefinitions: ['pk', 'sk', 'dueShard', 'dueAt'].map((AttributeName) => ({
      AttributeName,
      AttributeType: 'S',
    })),
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
    GlobalSecondaryIndexes: [
      {
        IndexName: 'due',
        KeySchema: [
          { AttributeName: 'dueShard', KeyType: 'HASH' },
          { AttributeName: 'dueAt', KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'KEYS_ONLY' },
      },
    ],
  },
});
