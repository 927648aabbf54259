import {
  DeleteTableCommand,
  DynamoDBClient,
  ListTablesCommand,
  ScanCommand,
  type ScanCommandOutput,
} from '@aws-sdk/client-dynamodb';
import { keys } from '#platform/store/keys.ts';
import { Platform, prefix } from './platform.ts';
import type { Target } from './target.ts';

/**
 * Names of organizations that an interrupted verify left. No list of the API has them, because their owner's token is
 * lost, so this reads the whole table.
 */
const leftOrganizations = async (dynamodb: DynamoDBClient, TableName: string): Promise<string[]> => {
  const { pk, sk } = keys.organization(prefix);
  const names: string[] = [];
  for (
    let ExclusiveStartKey: ScanCommandOutput['LastEvaluatedKey'], first = true;
    first || ExclusiveStartKey;
    first = false
  ) {
    const page: ScanCommandOutput = await dynamodb.send(
      new ScanCommand({
        TableName,
        ExclusiveStartKey,
        FilterExpression: 'begins_with(pk, :pk) AND sk = :sk AND attribute_not_exists(deletedAt)',
        ExpressionAttributeValues: { ':pk': { S: pk }, ':sk': { S: sk } },
      }),
    );
    names.push(...(page.Items ?? []).flatMap((item) => item.name?.S ?? []));
    ExclusiveStartKey = page.LastEvaluatedKey;
  }
  return names;
};

/** Removes what an interrupted verify left. @returns the removed organizations and tables */
export const clean = async (target: Target): Promise<string[]> => {
  const dynamodb = new DynamoDBClient({});
  const names = await leftOrganizations(dynamodb, target.table);
  for (const name of names) {
    const platform = new Platform(target, undefined, name);
    await platform.signIn();
    await platform.remove();
  }
  if (target.kind === 'local') return names;
  const { TableNames = [] } = await dynamodb.send(new ListTablesCommand({ ExclusiveStartTableName: prefix }));
  const tables = TableNames.filter((name) => name.startsWith(prefix));
  for (const TableName of tables) await dynamodb.send(new DeleteTableCommand({ TableName }));
  return [...names, ...tables];
};
