import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { databaseFile } from '#infra/local/host/database.ts';
import { contentsOf, filesBelow } from '#test/support/stored.ts';

/** Sensitive values occur only in Terraform's own input and output. */

/** Plans and states contain the values, as in HCP Terraform. */
const mayHave = (path: string): boolean => /s3\/.*\/(runs|states)\//.test(path) && !/\/log/.test(path);

/** In a data folder: each object and journal of its database in place of its bytes, which contain plans and states. */
export const secretsInFiles = (folder: string, canaries: readonly string[]): string[] => {
  const database = join(folder, databaseFile);
  const contents = existsSync(database)
    ? contentsOf(folder).filter(({ place }) => !place.startsWith(database))
    : filesBelow(folder).map((place) => ({ place, content: readFileSync(place) }));
  return contents
    .filter(({ place, content }) => !mayHave(place) && canaries.some((canary) => content.includes(canary)))
    .map(({ place }) => `a secret is in ${place}`);
};

/** The table on disk may be compressed; this reads it. */
export const secretsInItems = async (
  { awsEndpointUrl, tableName }: { awsEndpointUrl: string; tableName: string },
  canaries: readonly string[],
): Promise<string[]> => {
  const problems: string[] = [];
  const client = new DynamoDBClient({ endpoint: awsEndpointUrl });
  for await (const { Items = [] } of paginateScan({ client }, { TableName: tableName })) {
    for (const item of Items) {
      const text = JSON.stringify(item, (_, value) =>
        ArrayBuffer.isView(value) ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString() : value,
      );
      if (canaries.some((canary) => text.includes(canary)))
        problems.push(`a secret is in item ${item.pk?.S} ${item.sk?.S}`);
    }
  }
  return problems;
};
