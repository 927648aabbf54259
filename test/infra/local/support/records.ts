import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';

const client = new DynamoDBClient({});

/** Records the received events. */
export const handler = async (event: { id: string; 'detail-type': string }): Promise<void> => {
  await client.send(
    new PutItemCommand({
      TableName: process.env.TABLE_NAME,
      Item: { pk: { S: event['detail-type'] }, sk: { S: event.id }, event: { S: JSON.stringify(event) } },
    }),
  );
};
