import type { Database } from '#infra/local/host/database.ts';
import { AwsError, StartError } from '#infra/local/host/errors.ts';
import type { Resource } from '#infra/local/host/template.ts';
import type { Units } from '../lambda/usage.ts';
import type { Input } from './expressions.ts';
import { batchGetItem, getItem, query, scan } from './reads.ts';
import { checkParameters, choice } from './requests.ts';
import { type Index, type KeySchema, Table, type TableDescription } from './table.ts';
import { batchWriteItem, deleteItem, type Outcome, putItem, type TableOf, updateItem } from './writes.ts';

type Perform = (input: Input, tableOf: TableOf) => Outcome;

const actions: Record<string, { kind: 'readUnits' | 'writeUnits'; perform: Perform }> = {
  BatchGetItem: { kind: 'readUnits', perform: batchGetItem },
  BatchWriteItem: { kind: 'writeUnits', perform: batchWriteItem },
  DeleteItem: { kind: 'writeUnits', perform: deleteItem },
  GetItem: { kind: 'readUnits', perform: getItem },
  PutItem: { kind: 'writeUnits', perform: putItem },
  Query: { kind: 'readUnits', perform: query },
  Scan: { kind: 'readUnits', perform: scan },
  UpdateItem: { kind: 'writeUnits', perform: updateItem },
};

type KeyElements = { AttributeName: string; KeyType: string }[];

export interface TableProperties {
  KeySchema: KeyElements;
  AttributeDefinitions: { AttributeName: string; AttributeType: string }[];
  GlobalSecondaryIndexes?: {
    IndexName: string;
    KeySchema: KeyElements;
    Projection: { ProjectionType: string; NonKeyAttributes?: string[] };
  }[];
}

/** DynamoDB on SQLite: the operations that this product uses, and their costs (decisions/0089). */
export class DynamoDb {
  readonly #db: Database;
  readonly #tables = new Map<string, Table>();

  constructor(db: Database) {
    this.#db = db;
  }

  /** Creates the template's table if it is missing, and fills new indexes. */
  ensureTable({ ref, properties }: Pick<Resource<TableProperties>, 'ref' | 'properties'>): void {
    this.#tables.set(ref, new Table(this.#db, describe(ref, properties)));
  }

  /**
   * Returns the response and the request units that it would have cost. Throws AwsError as DynamoDB does; a failed
   * condition costs a write unit, which the caller counts.
   */
  async handle(action: string, input: Input): Promise<{ output: Record<string, unknown>; units: Units }> {
    const { kind, perform } = (Object.hasOwn(actions, action) && actions[action]) || unknownAction(action);
    checkParameters(action, input);
    const returned = choice(input, 'ReturnConsumedCapacity', ['NONE', 'TOTAL']);
    let outcome: Outcome | undefined;
    try {
      outcome = perform(input, (name) => this.#table(name));
    } finally {
      // Also after a read and a failed condition, if they may depend on a write that is not on disk yet.
      const { partitions } = outcome ?? {};
      if (!partitions || partitions.some((partition) => this.#db.isChanged(partition))) await this.#db.written();
    }
    const { output, units } = outcome;
    if (returned === 'TOTAL') output.ConsumedCapacity = { TableName: input.TableName, CapacityUnits: units };
    return { output, units: { [kind]: units } };
  }

  #table(name: unknown): Table {
    const table = this.#tables.get(String(name).split('/').at(-1) as string);
    if (!table) throw new AwsError('ResourceNotFoundException', 'Requested resource not found');
    return table;
  }
}

const unknownAction = (action: string): never => {
  throw new AwsError('UnknownOperationException', `the local DynamoDB does not support ${action}`);
};

const describe = (name: string, properties: TableProperties): TableDescription => ({
  name,
  keys: keysOf(name, properties.KeySchema, properties),
  indexes: (properties.GlobalSecondaryIndexes ?? []).map(
    ({ IndexName, KeySchema, Projection }): Index => ({
      name: IndexName,
      keys: keysOf(IndexName, KeySchema, properties),
      projected: Projection.ProjectionType === 'ALL' ? undefined : (Projection.NonKeyAttributes ?? []),
    }),
  ),
});

const keysOf = (of: string, elements: KeyElements, { AttributeDefinitions }: TableProperties): KeySchema => {
  for (const { AttributeName } of elements)
    if (AttributeDefinitions.find((one) => one.AttributeName === AttributeName)?.AttributeType !== 'S')
      throw new StartError(`${of}: the local DynamoDB has only keys that are strings; ${AttributeName} is none`);
  const [hash, range] = ['HASH', 'RANGE'].map((type) => elements.find(({ KeyType }) => KeyType === type));
  if (!hash) throw new StartError(`${of}: the table has no partition key`);
  return { hash: hash.AttributeName, range: range?.AttributeName };
};
