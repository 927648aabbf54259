import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { forCall, forgetTables, openStore, type Store } from './dynamodb-store.ts';
import { AwsError } from './errors.ts';
import type { Resource } from './template.ts';
import type { Units } from './usage.ts';

/*
 * dynalite's own HTTP server would cost a second socket, a second parse and process-wide throws on odd input; its
 * validations and actions are plain functions over a store, so they are called directly.
 */
const load = createRequire(import.meta.url);

type Answer = (error: (Error & { statusCode?: number; body?: ErrorBody }) | null, result?: Output) => void;
type Output = Record<string, unknown>;
interface ErrorBody {
  __type: string;
  message?: string;
  Message?: string;
}
interface Capacity {
  TableName: string;
  CapacityUnits: number;
}

const actions = {
  BatchGetItem: 'read',
  BatchWriteItem: 'write',
  CreateTable: 'control',
  DeleteItem: 'write',
  DeleteTable: 'control',
  DescribeTable: 'control',
  DescribeTimeToLive: 'control',
  GetItem: 'read',
  ListTables: 'control',
  PutItem: 'write',
  Query: 'read',
  Scan: 'read',
  UpdateItem: 'write',
} as const;
type Action = keyof typeof actions;

export interface TableProperties {
  KeySchema: unknown;
  AttributeDefinitions: unknown;
  GlobalSecondaryIndexes?: { IndexName: string; KeySchema: unknown; Projection: unknown }[];
}

/** DynamoDB on LevelDB in one folder; without one, in memory. */
export class DynamoDb {
  readonly #store: Store;
  readonly #checks: {
    checkTypes(input: unknown, types: unknown): Output;
    checkValidations(input: Output, types: unknown, custom: unknown, store: Store): void;
  };

  constructor(folder?: string) {
    if (folder) mkdirSync(folder, { recursive: true });
    this.#checks = load('dynalite/validations');
    this.#store = openStore(folder);
  }

  /** Makes the template's table unless it is there; returns when it can be used. */
  async ensureTable({ ref, properties }: Pick<Resource<TableProperties>, 'ref' | 'properties'>): Promise<void> {
    const exists = await this.#status(ref);
    if (!exists)
      await this.#run('CreateTable', {
        TableName: ref,
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: properties.KeySchema,
        AttributeDefinitions: properties.AttributeDefinitions,
        GlobalSecondaryIndexes: properties.GlobalSecondaryIndexes?.map(({ IndexName, KeySchema, Projection }) => ({
          IndexName,
          KeySchema,
          Projection,
        })),
      });
    for (let i = 0; (await this.#status(ref)) !== 'ACTIVE'; i++) {
      if (i > 1000) throw new Error(`table ${ref} does not become active`);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async #status(table: string): Promise<string | undefined> {
    try {
      const { Table } = (await this.#run('DescribeTable', { TableName: table })) as { Table: { TableStatus: string } };
      return Table.TableStatus;
    } catch (error) {
      if ((error as Error).name === 'ResourceNotFoundException') return undefined;
      throw error;
    }
  }

  /**
   * Returns the answer and the request units it would have cost. Throws AwsError as DynamoDB would; a failed
   * condition costs a write unit, which the caller counts.
   */
  async handle(action: string, input: Output): Promise<{ output: Output; units: Units }> {
    if (!Object.hasOwn(actions, action))
      throw new AwsError('UnknownOperationException', `the local DynamoDB does not know ${action}`);
    const kind = actions[action as Action];
    if (kind === 'control') {
      const output = await this.#run(action as Action, input, this.#store);
      forgetTables(this.#store);
      return { output, units: {} };
    }
    const store = forCall(this.#store);
    const asked = input.ReturnConsumedCapacity ?? 'NONE';
    const output = await this.#run(
      action as Action,
      { ...input, ReturnConsumedCapacity: asked === 'NONE' ? 'TOTAL' : asked },
      store,
    );
    const consumed = [output.ConsumedCapacity ?? []].flat() as Capacity[];
    let amount = consumed.reduce((sum, { CapacityUnits }) => sum + CapacityUnits, store.call.indexUnits);
    // A query that finds nothing is billed as one read.
    if (action === 'Query' || action === 'Scan') amount ||= input.ConsistentRead ? 1 : 0.5;
    if (asked === 'NONE') delete output.ConsumedCapacity;
    return { output, units: kind === 'read' ? { readUnits: amount } : { writeUnits: amount } };
  }

  #run(action: Action, input: Output, store: Store = this.#store): Promise<Output> {
    const name = action.charAt(0).toLowerCase() + action.slice(1);
    const { types, custom } = load(`dynalite/validations/${name}`) as { types: unknown; custom: unknown };
    const perform = load(`dynalite/actions/${name}`) as (store: Store, input: Output, answer: Answer) => void;
    return new Promise((resolve, reject) => {
      try {
        const checked = this.#checks.checkTypes(input, types);
        this.#checks.checkValidations(checked, types, custom, store);
        perform(store, checked, (error, result) => (error ? reject(asAwsError(error)) : resolve(result ?? {})));
      } catch (error) {
        reject(asAwsError(error as Error));
      }
    });
  }

  async close(): Promise<void> {
    await this.#store.db.close();
  }
}

const asAwsError = (error: Error & { statusCode?: number; body?: ErrorBody }): Error => {
  if (!error.statusCode || !error.body) return error;
  const code = error.body.__type.split('#').at(-1) ?? 'InternalFailure';
  return new AwsError(code, error.body.message ?? error.body.Message ?? '', error.statusCode);
};
