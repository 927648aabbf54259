import { once } from 'node:events';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { Lambda } from '#infra/local/aws/lambda/lambda.ts';
import { Sockets } from '#infra/local/host/sockets.ts';

interface ConnectEvent {
  queryStringParameters: { status?: string };
  requestContext: { connectionId: string };
}

let sockets: Sockets;
let url: string;
let connectionIds: string[];
beforeEach(async () => {
  connectionIds = [];
  const invoke = async (_: string, event: string) => {
    const { queryStringParameters, requestContext } = JSON.parse(event) as ConnectEvent;
    connectionIds.push(requestContext.connectionId);
    const { status } = queryStringParameters;
    const failure = { errorType: 'Error', errorMessage: 'crashed' };
    return status === 'crash' ? { failure, payload: '' } : { payload: JSON.stringify({ statusCode: Number(status) }) };
  };
  sockets = new Sockets(() => {});
  sockets.serve({ functionArn: 'F', lambda: { invoke } as unknown as Lambda });
  url = `ws://127.0.0.1:${await sockets.listen(0)}`;
});
afterEach(() => sockets.close());

const connect = async (): Promise<[client: WebSocket, connectionId: string]> => {
  const client = new WebSocket(`${url}/logs?status=200`);
  await once(client, 'open');
  return [client, connectionIds.at(-1) ?? ''];
};

it('a client receives the messages of a function as text and in order', async () => {
  const [client, id] = await connect();
  const messages: [string, boolean][] = [];
  client.on('message', (data: Buffer, isBinary: boolean) => messages.push([data.toString(), isBinary]));
  const large = 'é'.repeat(60_000);
  for (const text of ['one', large, '']) await sockets.post(id, Buffer.from(text));
  await expect.poll(() => messages).toHaveLength(3);
  expect(messages).toEqual([
    ['one', false],
    [large, false],
    ['', false],
  ]);
});

it.each([
  ['401', 401],
  ['403', 500],
  ['crash', 500],
])('a connection whose function answers %s is refused with %i', async (status, expected) => {
  const client = new WebSocket(`${url}/logs?status=${status}`);
  client.on('error', () => {});
  const [, response] = await once(client, 'unexpected-response');
  expect(response.statusCode).toBe(expected);
});

it('the WebSocket API answers pings', async () => {
  const [client] = await connect();
  client.ping('still there?');
  expect(String((await once(client, 'pong'))[0])).toBe('still there?');
});

it('a connection that a function ends is closed, and reported as gone', async () => {
  const [client, id] = await connect();
  sockets.end(id);
  expect((await once(client, 'close'))[0]).toBe(1000);
  await expect(sockets.post(id, Buffer.from('x'))).rejects.toMatchObject({ name: 'GoneException', statusCode: 410 });
  expect(() => sockets.end(id)).toThrow('gone');
});

it('a connection that the client closed is reported as gone', async () => {
  const [client, id] = await connect();
  client.close();
  await once(client, 'close');
  await expect.poll(() => sockets.post(id, Buffer.from('x')).catch(({ name }: Error) => name)).toBe('GoneException');
});

it('messages are limited in both directions', async () => {
  const [client, id] = await connect();
  await expect(sockets.post(id, Buffer.alloc(128 * 1024 + 1))).rejects.toMatchObject({ statusCode: 413 });
  client.send('x'.repeat(64 * 1024 + 1));
  expect((await once(client, 'close'))[0]).toBe(1009);
});

it('a plain HTTP request is answered with 426 Upgrade Required', async () => {
  expect((await fetch(url.replace('ws:', 'http:'))).status).toBe(426);
});
