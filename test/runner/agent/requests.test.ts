import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { keepTls } from '#infra/local/host/tls.ts';
import { sealFor } from '#platform/net/forwarding/box.ts';
import { Forwarder } from '#runner/agent/forwarder.ts';
import { performRequest } from '#runner/agent/perform.ts';

/** Requests that an agent sends for its platform; uploads go to the platform's storage only. */

type Answerer = (request: IncomingMessage, response: ServerResponse) => unknown;
const servers: Server[] = [];
let forge: string;
let secure: string;
let mirror: string;
let storage: string;
let elsewhere: string;
/** Method, address and credentials of each request. */
const calls: string[] = [];
/** Addresses of the responses whose connections are open. */
const open = new Set<string>();

const start = async (
  answers: Record<string, Answerer> = {},
  tls?: Awaited<ReturnType<typeof keepTls>>,
): Promise<string> => {
  const listener: Answerer = (request, response) => {
    const { authorization, 'content-length': length } = request.headers;
    const sent = request.method === 'POST' ? `${length} bytes` : '';
    calls.push([request.method, url + request.url, authorization, sent].filter(Boolean).join(' '));
    open.add(request.url ?? '');
    response.on('close', () => void open.delete(request.url ?? ''));
    const answer = answers[request.url ?? ''] ?? (() => response.end('private code'));
    request.resume().on('end', () => answer(request, response));
  };
  const server = tls ? createSecureServer(tls, listener) : createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http${tls ? 's' : ''}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return url;
};
const answer =
  (status: number, location: () => string = () => '/', body: Buffer | string = ''): Answerer =>
  (_, response) =>
    response.writeHead(status, { location: location() }).end(body);

/** A response that does not end. */
const endless =
  (status: number, location: () => string = () => '/', body: Buffer | string = 'more'): Answerer =>
  (_, response) =>
    response.writeHead(status, { location: location() }).write(body);

const large = Buffer.alloc(1024 * 1024 + 1);
beforeAll(async () => {
  [mirror, elsewhere] = [await start(), await start()];
  storage = await start({ '/full': answer(300) });
  forge = await start({
    '/moved': endless(302, () => `${mirror}/archive`),
    '/repeated': answer(307, () => '/archive'),
    '/permanent': answer(308, () => '/archive'),
    '/away': answer(301, () => `${elsewhere}/archive`),
    '/loop': answer(303, () => '/loop'),
    '/named': answer(200, () => '/archive'),
    '/missing': endless(404, () => '/archive'),
    '/large': endless(200, undefined, large),
    '/largest': answer(200, undefined, large.subarray(1)),
    '/random': answer(200, undefined, randomBytes(500_000)),
    '/slow': () => {},
  });
  secure = await start(
    { '/plain': answer(307, () => `${forge}/archive`), '/secure': answer(307, () => '/archive') },
    await keepTls(mkdtempSync(join(tmpdir(), 'agent-requests-'))),
  );
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
});
beforeEach(() => {
  calls.length = 0;
});
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

const perform = async (url: string, uploadUrl?: string, method: 'GET' | 'POST' = 'GET', totalMs = 10_000) => {
  const answer = await performRequest(
    {
      ...{ method, url, headers: { authorization: 'secret' }, totalMs, maxBytes: 1024 * 1024, uploadUrl },
      ...(method === 'POST' ? { body: 'text' } : {}),
    },
    { origins: [forge, mirror, secure], storage },
  );
  return 'failure' in answer
    ? answer
    : { status: answer.status, headers: Object.entries(answer.headers).join(), body: answer.body.length };
};
const failed = (failure: string, text: string) => ({ failure, message: expect.stringContaining(text) });
/** `{forge}/x` → its address. */
const named = (text: string) =>
  text.replace(/^\{(\w+)\}/, (_, name: string) => ({ forge, mirror, storage, elsewhere, secure })[name] ?? '');
const namedIn = (text: string) =>
  Object.entries({ forge, mirror, storage, elsewhere }).reduce(
    (line, [name, url]) => line.replace(url, `{${name}}`),
    text,
  );

const put = 'PUT {storage}/x?X-Amz-Signature=1';
it.each<[method: 'GET' | 'POST', path: string, outcome: object, calls: string[]]>([
  ['GET', '/archive', { status: 200, body: 0 }, ['GET {forge}/archive secret', put]],
  ['GET', '/moved', { status: 200 }, ['GET {forge}/moved secret', 'GET {mirror}/archive', put]],
  ['GET', '/repeated', { status: 200 }, ['GET {forge}/repeated secret', 'GET {forge}/archive secret', put]],
  [
    'POST',
    '/permanent',
    { status: 200 },
    ['POST {forge}/permanent secret 4 bytes', 'POST {forge}/archive secret 4 bytes', put],
  ],
  ['POST', '/moved', { status: 302 }, ['POST {forge}/moved secret 4 bytes']],
  ['GET', '/named', { status: 200 }, ['GET {forge}/named secret', put]],
  ['GET', '/missing', { status: 404 }, ['GET {forge}/missing secret']],
  ['GET', '/away', failed('forbidden', 'does not forward to http'), ['GET {forge}/away secret']],
  ['GET', '/loop', failed('unreachable', 'redirects more than 3 times'), Array(4).fill('GET {forge}/loop secret')],
  ['GET', '/largest', { status: 200 }, ['GET {forge}/largest secret', put]],
  ['GET', '/large', failed('forbidden', 'more than 1 MiB'), ['GET {forge}/large secret']],
])('%s %s of an archive', async (method, path, outcome, expected) => {
  expect(await perform(`${forge}${path}`, `${storage}/x?X-Amz-Signature=1`, method)).toMatchObject(outcome);
  expect(calls.map(namedIn)).toEqual(expected);
  await expect.poll(() => [...open], { timeout: 5000 }).toEqual([]);
});

it.each<[url: string, uploadUrl: string | undefined, outcome: object, totalMs?: number]>([
  ['{forge}/archive', undefined, { status: 200, body: 12 }],
  ['{forge}/repeated', undefined, { status: 307, headers: 'location,/archive' }],
  ['{forge}/large', undefined, { status: 200, body: 1024 * 1024 }],
  ['{forge}/random', undefined, failed('forbidden', 'larger than an agent can forward')],
  ['{forge}/slow', undefined, failed('timeout', 'timed out'), 200],
  ['{secure}/plain', '{storage}/x', failed('forbidden', 'from https to http')],
  ['{secure}/secure', '{storage}/x', { status: 200 }],
  ['{elsewhere}/', undefined, failed('forbidden', 'does not forward to http')],
  ['no url', undefined, failed('forbidden', 'does not forward to that address')],
  ['{forge}/archive', '{storage}/full', failed('unreachable', 'storage answered the agent 300')],
  ['{forge}/archive', '{elsewhere}/x', failed('forbidden', 'only')],
  ['{forge}/archive', 'no url', failed('forbidden', 'only')],
])('a request to %s with the upload %s', async (url, uploadUrl, outcome, totalMs) => {
  expect(await perform(named(url), uploadUrl && named(uploadUrl), 'GET', totalMs)).toMatchObject(outcome);
  expect(calls.map(namedIn).join(' ')).not.toContain('elsewhere');
});

it('an agent sends no credentials of a URL, and reports a server that is down', async () => {
  for (const userinfo of ['me@', ':secret@']) {
    const answer = await perform(forge.replace('//', `//${userinfo}`));
    expect(answer).toMatchObject(failed('forbidden', 'does not forward to'));
  }
  const [, port] = /:(\d+)$/.exec(await start()) ?? [];
  await new Promise((resolve) => servers.pop()?.close(resolve));
  const down = await performRequest(
    { method: 'GET', url: `http://127.0.0.1:${port}/`, headers: {}, totalMs: 10_000, maxBytes: 1 },
    { origins: [`http://127.0.0.1:${port}`], storage },
  );
  expect(down).toMatchObject(failed('unreachable', 'ECONNREFUSED'));
});

describe('a forwarding agent', () => {
  const registers = async (address: string, named: string): Promise<unknown> => {
    const lines: string[] = [];
    const forwarder: Forwarder = new Forwarder({
      client: {
        register: async () => ({ agent: 'a', pool: 'p', organization: 'o', pingSeconds: 60, storage: named }),
        request: async (body) => {
          expect(body, 'no ping, right after its registration').not.toHaveProperty('publicKey');
          forwarder.stop();
          return { action: 'wait', afterMs: 1 };
        },
        answer: async () => ({}),
        ping: async () => ({}),
      },
      name: 'f',
      address,
      origins: [forge],
      say: (line) => lines.push(line),
    });
    await forwarder.run();
    return lines[0];
  };
  const s3 = 'https://bucket.s3.eu-central-1.amazonaws.com';

  it.each([
    ['https://stepform.example.com', s3],
    ['https://stepform.example.com', 'https://stepform.example.com:9000'],
    ['http://localhost:8080', 'http://127.0.0.1:4566'],
  ])('of %s accepts the storage %s, and names it', async (address, named) => {
    expect(await registers(address, named)).toContain(`uploads to ${named}`);
  });

  it.each([
    'https://evil.example',
    'http://bucket.s3.eu-central-1.amazonaws.com',
    'https://bucket.s3.eu-central-1.amazonaws.com.evil.example',
    'http://stepform.example.com:9000',
    'http://127.0.0.1:4566',
    'http://169.254.169.254',
    '',
  ])('rejects a platform whose storage is %s', async (named) => {
    await expect(registers('https://stepform.example.com', named)).rejects.toThrow('neither on Amazon S3');
  });

  it('forwards at most eight requests at once', async () => {
    let publicKey = '';
    let taken = 0;
    let pings = 0;
    let isOver = false;
    const held: (() => void)[] = [];
    const said: string[] = [];
    const base64 = (bytes: Uint8Array = Buffer.alloc(0)) => Buffer.from(bytes).toString('base64');
    const forwarder = new Forwarder({
      client: {
        register: async (body) => {
          publicKey = body.publicKey ?? '';
          return { agent: 'a', pool: 'p', organization: 'o', pingSeconds: 0, storage: s3 };
        },
        request: async (body) => {
          if (body.publicKey) pings++;
          const id = `fwd-${++taken}`;
          const request = { method: 'GET', url: 'no url', headers: {}, totalMs: 10_000, maxBytes: 1 };
          const { box, sender, keys } = sealFor([{ id: 'a', publicKey }], id, JSON.stringify(request)).sealed;
          return { action: 'forward', request: { id, box: base64(box), sender, key: base64(keys.a) } };
        },
        answer: ({ agent }) => {
          expect(agent).toBe('a');
          return new Promise<object>((resolve) => (isOver ? resolve({}) : held.push(() => resolve({}))));
        },
        ping: async () => ({}),
      },
      ...{ name: 'f', address: 'https://stepform.example.com', origins: [forge], say: (line) => void said.push(line) },
    });
    const ended = forwarder.run();
    for (const count of [8, 9]) {
      await expect.poll(() => held.length).toBe(count);
      expect(taken).toBe(count);
      held.at(-1)?.();
    }
    expect(pings, 'polls with its key').toBeGreaterThan(0);
    isOver = true;
    forwarder.stop();
    for (const answer of held) answer();
    await ended;
    expect(said).toContain('Stopping.');
  });
});
