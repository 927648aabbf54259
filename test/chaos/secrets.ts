import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';

/** Sensitive values occur only in Terraform's own input and output. */

const files = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat?.isDirectory()) return files(path);
    return stat?.isFile() ? [path] : [];
  });

/** Plans and states contain the values, as in HCP Terraform. */
const mayHave = (path: string): boolean => /s3\/.*\/(runs|states)\//.test(path) && !/\/log/.test(path);

export const secretsInFiles = (folder: string, canaries: readonly string[]): string[] =>
  files(folder)
    .filter((path) => !mayHave(path))
    .filter((path) => {
      const content = readFileSync(path);
      return canaries.some((canary) => content.includes(canary));
    })
    .map((path) => `a secret is in ${path}`);

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
