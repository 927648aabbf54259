import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { TableProperties } from '#infra/local/aws/dynamodb/dynamodb.ts';
import type { Units } from '#infra/local/aws/lambda/usage.ts';
import { AwsError } from '#infra/local/host/errors.ts';
import { forCall, openStore, type Store } from './store.ts';

/** Another DynamoDB to hold the local platform's against: dynalite's validations and actions, on LevelDB. */
const load = createRequire(import.meta.url);

type Answer = (error: (Error & { statusCode?: number; body?: ErrorBody }) | null, result?: Output) => void;
type Output = Record<string, unknown>;
interface ErrorBody {
  __type: string;
  message?: string;
  Message?: string;
}

const reads = new Set(['BatchGetItem', 'GetItem', 'Query', 'Scan']);

export class Dynalite {
  readonly #store: Store;
  readonly #checks: {
    checkTypes(input: unknown, types: unknown): Output;
    checkValidations(input: Output, types: unknown, custom: unknown, store: Store): void;
  };

  /** @param folder in memory without one */
  constructor(folder?: string) {
    if (folder) mkdirSync(folder, { recursive: true });
    this.#checks = load('dynalite/validations');
    this.#store = openStore(folder);
  }

  async ensureTable({ ref, properties }: { ref: string; properties: TableProperties }): Promise<void> {
    await this.#run('CreateTable', { TableName: ref, BillingMode: 'PAY_PER_REQUEST', ...structuredClone(properties) });
    const isActive = async () => {
      const { Table } = (await this.#run('DescribeTable', { TableName: ref })) as { Table: { TableStatus: string } };
      return Table.TableStatus === 'ACTIVE';
    };
    while (!(await isActive())) await new Promise((resolve) => setImmediate(resolve));
  }

  async handle(action: string, input: Output): Promise<{ output: Output; units: Units }> {
    const store = forCall(this.#store);
    const output = await this.#run(action, { ...structuredClone(input), ReturnConsumedCapacity: 'TOTAL' }, store);
    const consumed = [output.ConsumedCapacity ?? []].flat() as { CapacityUnits: number }[];
    let amount = consumed.reduce((sum, { CapacityUnits }) => sum + CapacityUnits, store.call.indexUnits);
    // A query that finds nothing is billed as one read.
    if (action === 'Query' || action === 'Scan') amount ||= input.ConsistentRead ? 1 : 0.5;
    delete output.ConsumedCapacity;
    return { output, units: reads.has(action) ? { readUnits: amount } : { writeUnits: amount } };
  }

  #run(action: string, input: Output, store: Store = this.#store): Promise<Output> {
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

  close(): Promise<void> {
    return this.#store.db.close();
  }
}

const asAwsError = (error: Error & { statusCode?: number; body?: ErrorBody }): Error => {
  if (!error.statusCode || !error.body) return error;
  const code = error.body.__type.split('#').at(-1) ?? 'InternalFailure';
  return new AwsError(code, error.body.message ?? error.body.Message ?? '', error.statusCode);
};
