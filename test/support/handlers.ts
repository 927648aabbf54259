import { join } from 'node:path';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { type FunctionId, functions } from '#infra/stack/functions.ts';

export type Handler = (event: APIGatewayProxyEventV2, context: Context) => Promise<unknown>;

const root = join(import.meta.dirname, '../..');

/** The handler of a function, from the entry in its declaration; loaded on first use. */
export const handlerOf = async (id: FunctionId): Promise<Handler> => {
  const module = (await import(/* @vite-ignore */ join(root, functions[id].entry))) as { handler: Handler };
  return module.handler;
};
