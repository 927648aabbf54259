import { afterEach, beforeEach, expect, it } from 'vitest';
import { ApiError, Client } from '#clients/client/client.ts';
import { type Serving, serve } from '#test/support/serve.ts';

/** Statuses of the server's next responses; 0 ends the connection. After the last one, 201. */
let answers: number[];
let received: { url: string; key: string | undefined }[];
let server: Serving;
let client: Client;
beforeEach(async () => {
  received = [];
  server = await serve((request, response) => {
    const key = request.headers['idempotency-key'];
    received.push({ url: request.url ?? '', key: key as string | undefined });
    const status = answers.shift() ?? 201;
    if (status === 0) return void request.socket.destroy();
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify(status < 300 ? { data: { id: 'run-1', type: 'runs' } } : { errors: [{ title: 'no' }] }),
    );
  });
  client = new Client(server.url, 'token');
});
afterEach(() => server.close());

it('the creation of a run is repeated with the same key until it has a response', async () => {
  answers = [0, 500];
  expect((await client.createRun('ws-1')).id).toBe('run-1');
  const [key] = received.map((one) => one.key);
  expect(key).toMatch(/^[0-9a-f]{32}$/);
  expect(received).toEqual(Array(3).fill({ url: '/api/v2/runs', key }));
  await client.createRun('ws-1');
  expect(received.at(-1)?.key, 'another run has another key').not.toBe(key);
});

it('a rejected creation, and any other POST, is not repeated', async () => {
  answers = [422];
  await expect(client.createRun('ws-1')).rejects.toBeInstanceOf(ApiError);
  answers = [503];
  await expect(client.createWorkspace('acme', 'w')).rejects.toMatchObject({ status: 503 });
  expect(received.map(({ key }) => key !== undefined)).toEqual([true, false]);
});
