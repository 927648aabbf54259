import {
  BatchWriteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  UpdateItemCommand,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { packFiles } from '#clients/cli/archive.ts';
import { Client, isFinalRun, type Resource } from '#clients/client/client.ts';
import { newId } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import { operationOf } from '#run/operation.ts';
import type { Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';
import type { Local } from '#test/e2e/support/platform.ts';

/**
 * An organization with a history. A few runs really execute; the others are copies of their items, written without the
 * API, because 10,000 executions would take an hour: run and pointers as `enqueue` leaves them, without events, logs
 * and executions. Unfinished copies have no due time, so that the sweep does not look for their executions.
 */
export interface History {
  workspaces: Resource[];
  /** A run that was executed. */
  run: string;
}

type Item = Record<string, unknown> & Key;

const atOnce = 8;

const table = ({ awsCredentials: credentials, awsEndpointUrl, tableName }: Local) => {
  const client = new DynamoDBClient({ endpoint: awsEndpointUrl, region: 'us-east-1', credentials });
  return {
    get: async <T>(key: Key) => {
      const { Item = {} } = await client.send(new GetItemCommand({ TableName: tableName, Key: marshall(key) }));
      return unmarshall(Item) as T;
    },
    update: (key: Key, UpdateExpression: string, values: Record<string, unknown>) =>
      client.send(
        new UpdateItemCommand({
          TableName: tableName,
          Key: marshall(key),
          UpdateExpression,
          ExpressionAttributeValues: marshall(values),
        }),
      ),
    write: async (items: Item[]) => {
      const left = Array.from({ length: Math.ceil(items.length / 25) }, (_, i) => items.slice(i * 25, i * 25 + 25));
      const some = async () => {
        for (let part = left.pop(); part; part = left.pop()) {
          const requests: WriteRequest[] = part.map((item) => ({
            PutRequest: { Item: marshall(item, { removeUndefinedValues: true }) },
          }));
          await client.send(new BatchWriteItemCommand({ RequestItems: { [tableName]: requests } }));
        }
      };
      await Promise.all(Array.from({ length: atOnce }, some));
    },
  };
};

/** One run of each kind: ended in several ways, waiting for a user, and behind that one in the queue. */
const happen = async (client: Client, organization: string): Promise<string[]> => {
  const workspace = await client.createWorkspace(organization, 'examples');
  const upload = async (text: string) => client.upload(workspace.id, await packFiles({ 'main.tf': text }));
  const good = await upload('resource "terraform_data" "a" { input = 1 }\n');
  const bad = await upload('output "n" { value = nonsense }\n');
  const over = [
    await client.createRun(workspace.id, { 'plan-only': true }, good.id),
    await client.createRun(workspace.id, { 'auto-apply': true }, good.id),
    await client.createRun(workspace.id, {}, bad.id),
  ];
  for (const { id } of over) await client.waitForRun(id, isFinalRun);
  const destroy = { 'is-destroy': true };
  const waiting = await client.createRun(workspace.id, destroy, good.id);
  await client.waitForRun(waiting.id, ({ attributes }) => attributes.actions['is-confirmable']);
  const pending = await client.createRun(workspace.id, destroy, good.id);
  await client.waitForRun(pending.id, ({ attributes }) => attributes.status === 'pending');
  return [...over, waiting, pending].map(({ id }) => id);
};

const copyOf = (example: Run, { id, organization, name }: Workspace, number: number, createdAt: string): Item[] => {
  const { dueAt: _, dueShard: __, ...run } = example as Run & { dueAt?: string; dueShard?: string };
  const copy: Run = { ...run, id: newId('run'), workspaceId: id, workspaceName: name, number, createdAt };
  const pointer = { runId: copy.id, workspaceId: id, operation: operationOf(copy), source: copy.source };
  return [
    { ...copy, ...keys.run(copy.id) },
    { ...pointer, ...keys.runNumber(id, number) },
    { ...pointer, ...keys.organizationRun(organization, createdAt, copy.id) },
    ...(isFinal(copy.status) ? [] : [{ ...pointer, ...keys.openRun(organization, createdAt, copy.id) }]),
  ];
};

/** @param open number of unfinished runs */
export const writeHistory = async (
  platform: Local,
  { runs, workspaces: count, open }: { runs: number; workspaces: number; open: number },
): Promise<History> => {
  const client = new Client(platform.url, platform.token);
  const { get, update, write } = table(platform);
  const examples = await Promise.all((await happen(client, platform.organization)).map((id) => get<Run>(keys.run(id))));
  const over = examples.filter(({ status }) => isFinal(status));
  const unfinished = examples.filter(({ status }) => !isFinal(status));
  const workspaces: Resource[] = [];
  for (let i = 0; i < count; i++) workspaces.push(await client.createWorkspace(platform.organization, `service-${i}`));
  const records = await Promise.all(workspaces.map(({ id }) => get<Workspace>(keys.workspace(id))));
  const began = Date.now() - (runs + 1) * 60_000;
  const items: Item[] = [];
  const planOnly = new Map<string, number>();
  for (let i = 0; i < runs; i++) {
    const kind = i < runs - open ? over : unfinished;
    const example = kind[i % kind.length] as Run;
    const workspace = records[i % count] as Workspace;
    if (example.planOnly) planOnly.set(workspace.id, (planOnly.get(workspace.id) ?? 0) + 1);
    items.push(...copyOf(example, workspace, Math.floor(i / count) + 1, new Date(began + i * 60_000).toISOString()));
  }
  await write(items);
  for (const { id } of records) {
    const values = { ':runs': Math.ceil(runs / count), ':planOnly': planOnly.get(id) ?? 0 };
    await update(keys.workspace(id), 'SET runCount = :runs, planOnlyCount = :planOnly', values);
  }
  return { workspaces, run: (examples[1] as Run).id };
};
