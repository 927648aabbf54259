import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, expect, it, vi } from 'vitest';
import { keepTls } from '#infra/local/host/tls.ts';
import { isExpired, messageOf, RefusedError, TransportError } from '#platform/net/transport/errors.ts';
import { send } from '#platform/net/transport/http.ts';
import { isLoopback, plainHttpProblem } from '#platform/net/transport/plain-http.ts';
import { retryFor, retrying } from '#platform/net/transport/retry.ts';

/** How runners and agents reach the platform. */

let answer: RequestListener;
const requests: { request: IncomingMessage; body: Buffer; port: number }[] = [];
const listen = (one: Server): Promise<void> => new Promise((resolve) => one.listen(0, '127.0.0.1', resolve));
const urlOf = (one: Server, protocol = 'http') => `${protocol}://127.0.0.1:${(one.address() as AddressInfo).port}/path`;

const folder = mkdtempSync(join(tmpdir(), 'transport-'));
const { cert, key } = await keepTls(folder);
const certificate = String(cert);
const listener: RequestListener = async (request, response) => {
  const port = request.socket.remotePort ?? 0;
  requests.push({ request, body: await buffer(request), port });
  answer(request, response);
};
const server = createServer(listener);
const secure: ReturnType<typeof createSecureServer> = createSecureServer({ cert, key }, listener);
await Promise.all([listen(server), listen(secure)]);
afterAll(() => {
  for (const one of [server, secure]) {
    one.closeAllConnections();
    one.close();
  }
  rmSync(folder, { recursive: true });
});
const answering = (status: number, text = '') => {
  requests.length = 0;
  answer = (_, response) => response.writeHead(status).end(text);
};

// First, because connections are kept with the proxy of their first request.
it('requests to other machines go through the proxy of the environment, and those to this one do not', async () => {
  answering(200);
  vi.stubEnv('HTTP_PROXY', urlOf(server));
  expect((await send('http://elsewhere.test/page', { method: 'GET' })).status).toBe(200);
  expect((await send(urlOf(server), { method: 'GET' })).status).toBe(200);
  expect(requests.map(({ request }) => request.url)).toEqual(['http://elsewhere.test/page', '/path']);
});

it('a request is sent with its length, and a response with any status is returned', async () => {
  answering(418, 'tea');
  const onSent = vi.fn();
  const sent = await send(urlOf(server), { method: 'PUT', headers: { 'x-a': 'b' }, body: Buffer.from('text'), onSent });
  expect([sent.status, String(sent.body)]).toEqual([418, 'tea']);
  expect(onSent).toHaveBeenCalledOnce();
  const [{ request, body } = { request: { headers: {} }, body: '' }] = requests;
  expect([request.headers, String(body)]).toMatchObject([{ 'x-a': 'b', 'content-length': '4' }, 'text']);
  await send(urlOf(server), { method: 'POST' });
  expect(requests[1]?.request.headers['content-length']).toBe('0');
  await send(urlOf(server), { method: 'GET' });
  expect(requests[2]?.request.headers).not.toHaveProperty('content-length');
});

it('consecutive requests share a connection', async () => {
  answering(200);
  for (let n = 0; n < 3; n++) await send(urlOf(server), { method: 'GET' });
  expect(new Set(requests.map(({ port }) => port)).size).toBe(1);
});

it('a file is sent up to the given size, and one of size 0 is not read', async () => {
  answering(200);
  const file = join(folder, 'file');
  writeFileSync(file, '0123456789');
  await send(urlOf(server), { method: 'PUT', body: { file, size: 4 } });
  await send(urlOf(server), { method: 'PUT', body: { file: join(folder, 'nothing'), size: 0 } });
  expect(requests.map(({ body }) => String(body))).toEqual(['0123', '']);
  expect(requests.map(({ request }) => request.headers['content-length'])).toEqual(['4', '0']);
  const missing = send(urlOf(server), { method: 'PUT', body: { file: join(folder, 'nothing'), size: 4 } });
  await expect(missing).rejects.toBeInstanceOf(TransportError);
});

it('a certificate is rejected unless the caller trusts it', async () => {
  answering(200, 'over TLS');
  const url = urlOf(secure, 'https');
  await expect(send(url, { method: 'GET' })).rejects.toThrow(TransportError);
  const trusted = await send(url, { method: 'GET', ca: [certificate] });
  expect(String(trusted.body)).toBe('over TLS');
});

it('an error names the URL without its query, which can contain a signature', async () => {
  answering(200);
  const gone = createServer();
  await listen(gone);
  const url = urlOf(gone);
  await new Promise((resolve) => gone.close(resolve));
  const failed = await send(`${url}?signature=secret`, { method: 'GET' }).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(TransportError);
  expect(messageOf(failed)).toBe(`GET ${url}: ECONNREFUSED`);
  expect(messageOf('why')).toBe('why');
});

it('a response of more than 32 MiB ends the call', async () => {
  answering(200, 'x'.repeat(32 * 1024 * 1024 + 1));
  await expect(send(urlOf(server), { method: 'GET' })).rejects.toThrow(/longer than 33554432 bytes/);
});

it('a missing or interrupted response is a transport error, an abort is not', async () => {
  answer = () => {};
  await expect(send(urlOf(server), { method: 'GET', idleMs: 50 })).rejects.toThrow(/ETIMEDOUT$/);
  const aborted = send(urlOf(server), { method: 'GET', signal: AbortSignal.timeout(20) });
  await expect(aborted).rejects.not.toBeInstanceOf(TransportError);
  answer = (_, response) => {
    response.writeHead(200, { 'content-length': '10' }).write('half');
    setImmediate(() => response.destroy());
  };
  await expect(send(urlOf(server), { method: 'GET' })).rejects.toBeInstanceOf(TransportError);
});

it('transport errors and retryable responses are retried until the deadline, and nothing else is', async () => {
  const failing = (error: Error, times: number) => {
    const attempt = vi.fn(async () => {
      if (attempt.mock.calls.length <= times) throw error;
      return 'done';
    });
    return attempt;
  };
  const lost = new TransportError('lost');
  const passing = failing(lost, 2);
  expect(await retrying(passing, retryFor(5_000))).toBe('done');
  expect(passing).toHaveBeenCalledTimes(3);
  const refused = failing(new RefusedError('no', 403), 1);
  await expect(retrying(refused, retryFor(5_000))).rejects.toThrow('no');
  expect(refused).toHaveBeenCalledTimes(1);
  const over = failing(lost, 9);
  await expect(retrying(over, retryFor(0))).rejects.toThrow('lost');
  expect(over).toHaveBeenCalledTimes(1);
  const late = failing(lost, 99);
  const began = Date.now();
  await expect(retrying(late, retryFor(200))).rejects.toThrow('lost');
  expect(late.mock.calls.length).toBeGreaterThan(1);
  expect(Date.now() - began).toBeLessThan(5_000);
  const aborted = failing(lost, 9);
  await expect(retrying(aborted, retryFor(5_000, AbortSignal.abort()))).rejects.toThrow('aborted');
  expect(aborted).not.toHaveBeenCalled();
});

it('the first retry comes within 50 ms', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  let attempts = 0;
  const attempt = async () => {
    if (++attempts === 1) throw new TransportError('lost');
    return 'done';
  };
  expect(await retrying(attempt, retryFor(50))).toBe('done');
  vi.useRealTimers();
});

it.each([
  [new RefusedError('', 403), true],
  [new RefusedError('', 400, 'ExpiredToken'), true],
  [new RefusedError('', 400, 'InvalidToken'), true],
  [new RefusedError('', 400), false],
  [new RefusedError('', 404, 'NoSuchKey'), false],
  [new TransportError('lost'), false],
])('%o is the response of an expired URL: %s', (error, expected) => {
  expect(isExpired(error)).toBe(expected);
});

it('a token is sent over plain http only to this machine and to hosts that the user allows', () => {
  const problem = (url: string, hosts?: string) =>
    plainHttpProblem(new URL(url), hosts === undefined ? {} : { STEPFORM_PLAIN_HTTP_HOSTS: hosts });
  const here = ['http://localhost:1/', 'http://127.0.0.1/', 'http://127.8.9.1:2/', 'http://[::1]/'];
  expect(here.map((url) => isLoopback(new URL(url)))).toEqual([true, true, true, true]);
  const there = [
    'http://a.localhost/',
    'http://127.0.0.1.evil.test/',
    'http://128.0.0.1/',
    'http://localhost.evil.test/',
  ];
  expect(there.map((url) => isLoopback(new URL(url)))).toEqual([false, false, false, false]);
  expect(here.map((url) => problem(url))).toEqual(here.map(() => undefined));
  expect(problem('https://a.test/')).toBeUndefined();
  expect(problem('http://a.test:8080/')).toMatch(/readable on the network.*STEPFORM_PLAIN_HTTP_HOSTS=a\.test:8080$/);
  expect(problem('http://a.test:8080/', 'b.test, a.test:8080')).toBeUndefined();
  expect(problem('http://a.test/', 'a.test:8080')).toBeDefined();
});
