import type { TableProperties } from '#infra/local/aws/dynamodb/dynamodb.ts';

/** The product's table. */
export const productTable = (ref: string): { ref: string; properties: TableProperties } => ({
  ref,
  properties: {
    AttributeDefinitions: ['pk', 'sk', 'dueShard', 'dueAt', 'changedShard', 'changedAt'].map((AttributeName) => ({
      AttributeName,
      AttributeType: 'S',
    })),
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
    GlobalSecondaryIndexes: ['due', 'changed'].map((name) => ({
      IndexName: name,
      KeySchema: [
        { AttributeName: `${name}Shard`, KeyType: 'HASH' },
        { AttributeName: `${name}At`, KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'KEYS_ONLY' },
    })),
  },
});
