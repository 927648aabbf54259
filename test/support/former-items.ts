import type { DynamoDb } from '#infra/local/aws/dynamodb/dynamodb.ts';

type Input = Record<string, unknown>;
type Output = Awaited<ReturnType<DynamoDb['handle']>>;

/** Items as they were before their last write: DynamoDB may return these to an eventually consistent read. */
export class FormerItems {
  readonly #database: DynamoDb;
  readonly #items = new Map<string, unknown>();

  constructor(database: DynamoDb) {
    this.#database = database;
  }

  /** @param stale whether such reads get them */
  async around(stale: boolean, action: string, input: Input): Promise<Output> {
    const { TableName, Key, Item, ConsistentRead } = input as Record<string, { pk: unknown; sk: unknown }>;
    const keyed = Key ?? (Item && { pk: Item.pk, sk: Item.sk });
    if (!stale || !keyed) return this.#database.handle(action, input);
    const key = JSON.stringify([keyed.pk, keyed.sk]);
    const read = () => this.#database.handle('GetItem', { TableName, Key: keyed, ConsistentRead: true });
    if (action === 'GetItem') {
      const answer = await read();
      return ConsistentRead || !this.#items.has(key) ? answer : { ...answer, output: { Item: this.#items.get(key) } };
    }
    const before = (await read()).output as { Item?: unknown };
    const answer = await this.#database.handle(action, input);
    this.#items.set(key, before.Item);
    return answer;
  }
}
