import { join } from 'node:path';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { type FunctionId, functions } from '#infra/stack/functions.ts';

export type Handler = (event: APIGatewayProxyEventV2, context: Context) => Promise<unknown>;

const root = join(import.meta.dirname, '../..');

const loading = new Map<FunctionId, Promise<{ handler: Handler }>>();

/**
 * The handler of a function, from the entry in its declaration; loaded on first use. A repeated `import` takes as long as
 * a request, because the test runner asks its main process for the module again.
 */
export const handlerOf = async (id: FunctionId): Promise<Handler> => {
  const module = loading.get(id) ?? import(/* @vite-ignore */ join(root, functions[id].entry));
  loading.set(id, module);
  return (await module).handler;
};
