import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { retryFor } from '#platform/net/transport/retry.ts';
import { Client, ForgottenError, RefusedError, TokenDeadError, TransportError } from '#runner/agent/client.ts';
import { Connection } from '#runner/agent/connection.ts';

/** An agent's calls of the platform. */

it.each<[call: 'register' | 'next', status: number, text: string, outcome: object]>([
  ['next', 201, '{"action":"wait"}', { action: 'wait' }],
  ['next', 300, '', { name: 'RefusedError', status: 300 }],
  ['next', 401, '{"error":"why"}', { name: 'TokenDeadError', message: 'next: HTTP 401 why' }],
  ['next', 403, '{"message":"why"}', { name: 'RefusedError', message: 'next: HTTP 403 {"message":"why"}' }],
  ['next', 410, 'gone', { name: 'ForgottenError', message: 'next: HTTP 410 gone' }],
  ['next', 408, '', { name: 'TransportError' }],
  ['next', 425, '', { name: 'TransportError' }],
  ['next', 429, '', { name: 'TransportError' }],
  ['next', 500, '', { name: 'TransportError' }],
  ['next', 200, 'null', { name: 'TransportError', message: 'next: the response is not JSON: "null"' }],
  ['next', 200, '<html>', { name: 'TransportError' }],
  ['register', 200, '1', { name: 'RefusedError', status: 200 }],
])('the answer of %s with %i %s is or throws %o', async (call, status, text, outcome) => {
  const server = createServer((_, response) => response.writeHead(status).end(text)).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const client = new Client(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'token');
  expect(await client[call]({} as never, retryFor(0)).catch((error: Error) => error)).toMatchObject(outcome);
});

const connected = () => {
  const said: string[] = [];
  const pings: object[] = [];
  const stopping = new AbortController();
  let agents = 0;
  const connection = new Connection({
    client: {
      ping: async (body) => {
        pings.push(body);
        throw new TransportError('lost');
      },
    },
    firstPauseMs: 100_000,
    stopping: stopping.signal,
    register: async () => ({
      ...{ agent: `agent-${++agents}`, pool: '', organization: '', pingSeconds: 10, storage: '' },
    }),
    say: (text) => void said.push(text),
  });
  return { connection, said, pings, stopping };
};

it.each<[error: Error, agent: string, said: string[]]>([
  [new ForgottenError('who?'), 'agent-2', []],
  [new TransportError('down'), 'agent-1', ["Can't reach the platform (down). Retrying."]],
])('an agent polls again after %o', async (error, agent, lines) => {
  const { connection, said } = connected();
  expect(await connection.next(() => Promise.reject(error))).toBeUndefined();
  expect(await connection.next(async (id) => id)).toBe(agent);
  expect(said).toEqual(lines);
});

it.each([new TokenDeadError('dead'), new RefusedError('no', 403)])('an agent ends after %o', async (error) => {
  const { connection, said, stopping } = connected();
  await expect(connection.next(() => Promise.reject(error))).rejects.toBe(error);
  stopping.abort();
  expect(await connection.next(() => Promise.reject(error)), 'while it stops').toBeUndefined();
  expect(said).toEqual([]);
});

it('a poll is a ping if the last one is older than the interval', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const { connection } = connected();
  const isPing = (seconds: number) => {
    vi.setSystemTime(Date.now() + seconds * 1000);
    return connection.next(async (_, ping) => ping);
  };
  expect([await isPing(0), await isPing(10), await isPing(1), await isPing(10)]).toEqual([false, false, true, false]);
});

it('a registered agent reports its end, and whether it failed', async () => {
  const { connection, pings } = connected();
  await connection.during(async () => {});
  expect(pings).toEqual([]);
  await connection.next(async () => {});
  await connection.during(async () => {});
  await expect(connection.during(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(pings).toEqual([
    { agent: 'agent-1', ended: 'exited' },
    { agent: 'agent-1', ended: 'errored' },
  ]);
});

it('a pause ends when the agent stops', async () => {
  const { connection, stopping } = connected();
  const pause = connection.pause(100_000);
  const outcome = () => Promise.race([pause.then(() => 'over'), setImmediate('paused')]);
  expect(await outcome()).toBe('paused');
  stopping.abort();
  expect(await outcome()).toBe('over');
});
