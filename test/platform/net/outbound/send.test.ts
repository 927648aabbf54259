import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { keepTls } from '#infra/local/host/tls.ts';
import { download } from '#platform/net/outbound/download.ts';
import { pinned, reasonOf, send } from '#platform/net/outbound/send.ts';
import { hang, startTaskServer, status } from '#test/support/task-server.ts';

process.env.OUTBOUND_ALLOWED_CIDRS = '127.0.0.0/8';
const server = await startTaskServer();
/** A server on another port, the target of redirects. */
const other = await startTaskServer();
beforeEach(() => {
  for (const each of [server, other]) {
    each.answer = status(200);
    each.requests.length = 0;
  }
  process.env.OUTBOUND_ALLOWED_CIDRS = '127.0.0.0/8';
});

const post = (url: string, limits = {}) =>
  send(
    { method: 'POST', url, headers: { 'x-a': 'b' }, body: '{"a":1}' },
    { connectMs: 1_000, totalMs: 2_000, ...limits },
  );

const failure = (what: string, message: string) => ({ failure: what, message: expect.stringContaining(message) });

describe('requests to people’s URLs', () => {
  it('are sent unchanged, and responses with any status are returned', async () => {
    server.answer = (_, response) => response.writeHead(418, { 'x-c': 'd' }).end('tea');
    const answer = await post(`${server.url}path?q=1`);
    expect([answer.status, answer.headers['x-c'], answer.body.toString()]).toEqual([418, 'd', 'tea']);
    expect(server.requests).toMatchObject([
      { method: 'POST', path: '/path?q=1', headers: { 'x-a': 'b', 'content-length': '7' }, payload: { a: 1 } },
    ]);
  });

  it.each(['ftp://127.0.0.1/', 'file:///etc/passwd', 'gopher://127.0.0.1/', 'data:text/plain,a', 'javascript:1'])(
    'use http or https only, not %s',
    async (url) => {
      await expect(post(url)).rejects.toMatchObject(failure('forbidden', 'only http and https'));
    },
  );

  it('are rejected with a user name or password in the URL', async () => {
    await expect(post(server.url.replace('//', '//me:secret@'))).rejects.toMatchObject(
      failure('forbidden', 'user name'),
    );
    await expect(post('http://')).rejects.toMatchObject(failure('forbidden', 'not a URL'));
  });

  it('do not reach addresses that the operator does not allow', async () => {
    process.env.OUTBOUND_ALLOWED_CIDRS = '';
    await expect(post(server.url)).rejects.toMatchObject(failure('forbidden', 'reserved address'));
    await expect(post(server.url.replace('127.0.0.1', 'localhost'))).rejects.toMatchObject(
      failure('forbidden', 'localhost'),
    );
    expect(server.requests).toEqual([]);
  });

  it('go to the checked address, even if the name later resolves to another', async () => {
    // Both families are loopback, and only one is allowed: the other must not be tried at all.
    const answer = await post(server.url.replace('127.0.0.1', 'localhost'));
    expect(answer.status).toBe(200);
    expect(server.requests[0]?.headers.host).toMatch(/^localhost:/);
  });

  it('time out without a response', async () => {
    server.answer = hang;
    await expect(post(server.url, { totalMs: 100 })).rejects.toMatchObject(failure('timeout', 'timed out'));
  });

  it('time out while connecting', async () => {
    // Accepts connections, and never starts TLS.
    const deaf = createServer();
    await new Promise<void>((resolve) => deaf.listen(0, '127.0.0.1', resolve));
    const url = `https://127.0.0.1:${(deaf.address() as AddressInfo).port}/`;
    const limits = { connectMs: 100, totalMs: 300_000 };
    await expect(post(url, limits)).rejects.toMatchObject(failure('timeout', 'timed out'));
    await expect(download({ url, headers: {} }, limits)).rejects.toMatchObject(failure('timeout', 'timed out'));
    deaf.close();
  });

  it('fail with the reason when the server has no TLS', async () => {
    await expect(post(server.url.replace('http:', 'https:'))).rejects.toMatchObject(failure('unreachable', 'TLS'));
    const alert = Object.assign(new Error(), { code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' });
    expect(reasonOf(alert)).toBe('the TLS handshake failed');
  });

  it('fail with a message when the server is down', async () => {
    const gone = await startTaskServer();
    await gone.close();
    await expect(post(gone.url)).rejects.toMatchObject(failure('unreachable', 'the connection was refused'));
  });

  it('read only as much of a response as necessary', async () => {
    server.answer = (_, response) => response.writeHead(200).write('x'.repeat(2_000));
    const answer = await post(server.url, { maxBytes: 1_000, totalMs: 300_000 });
    expect([answer.status, answer.body.length]).toEqual([200, 1_000]);
  });

  it('may take longer than the connect timeout, and return the received part of an interrupted body', async () => {
    server.answer = (_, response) => void setTimeout(() => response.writeHead(200).end('late'), 200);
    expect(String((await post(server.url, { connectMs: 100 })).body)).toBe('late');
    server.answer = (_, response) => {
      response.writeHead(200).write('first');
      setTimeout(() => response.end(' second'), 50);
    };
    expect(String((await post(server.url)).body)).toBe('first second');
    expect(String((await post(server.url, { maxBytes: 6 })).body)).toBe('first ');
    server.answer = (_, response) => {
      response.writeHead(200, { 'content-length': '10' }).write('half');
      setImmediate(() => response.destroy());
    };
    const cut = await post(server.url);
    expect([cut.status, String(cut.body)]).toEqual([200, 'half']);
  });

  it('return the received part of a response when the time limit is reached', async () => {
    server.answer = (_, response) => response.writeHead(200).write('begun');
    const answer = await post(server.url, { totalMs: 150 });
    expect([answer.status, answer.body.toString()]).toEqual([200, 'begun']);
  });

  it('limit the size of headers', async () => {
    server.answer = (_, response) => response.writeHead(200, { 'x-long': 'x'.repeat(100_000) }).end();
    await expect(post(server.url)).rejects.toMatchObject(
      failure('unreachable', 'headers of its response are too large'),
    );
  });
});

describe('redirects', () => {
  it('that keep the method are followed, up to a limit', async () => {
    server.answer = status(307, { location: other.url });
    expect((await post(server.url)).status).toBe(200);
    expect(other.requests).toMatchObject([{ method: 'POST', payload: { a: 1 } }]);
    server.answer = status(308, { location: '/again' });
    await expect(post(server.url)).rejects.toMatchObject(failure('unreachable', 'redirects more than'));
    expect(server.requests).toHaveLength(5);
  });

  it('pass credentials to the same origin only, and are not followed elsewhere if the request is bound to its origin', async () => {
    const secrets = { Authorization: 'secret', 'private-token': 'secret', Cookie: 'a=b', 'x-other': 'kept' };
    const get = (limits = {}) =>
      send({ method: 'GET', url: server.url, headers: secrets }, { totalMs: 2_000, ...limits });
    server.answer = ({ path }, response) =>
      path === '/' ? response.writeHead(307, { location: '/again' }).end() : response.writeHead(200).end();
    expect((await get({ sameOrigin: true })).status).toBe(200);
    expect(server.requests[1]).toMatchObject({
      path: '/again',
      headers: { authorization: 'secret', 'x-other': 'kept' },
    });
    server.answer = status(307, { location: other.url });
    expect((await get()).status).toBe(200);
    const { headers = {} } = other.requests[0] ?? {};
    expect(headers['x-other']).toBe('kept');
    for (const name of ['authorization', 'private-token', 'cookie']) expect(headers, name).not.toHaveProperty(name);
    await expect(get({ sameOrigin: true })).rejects.toMatchObject(failure('forbidden', 'redirects to another address'));
    expect(other.requests).toHaveLength(1);
  });

  it('from https to http are not followed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'outbound-'));
    const { cert, key } = await keepTls(folder);
    const secure = createSecureServer({ cert, key }, (_, response) =>
      response.writeHead(307, { location: other.url }).end(),
    );
    await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
    const url = `https://127.0.0.1:${(secure.address() as AddressInfo).port}/`;
    // The certificate is not trusted, so the server is not called.
    await expect(post(url)).rejects.toMatchObject(failure('unreachable', 'SIGNED_CERT'));
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    try {
      await expect(post(url)).rejects.toMatchObject(failure('forbidden', 'from https to http'));
      await expect(download({ url, headers: {} })).rejects.toMatchObject(failure('forbidden', 'from https to http'));
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
      secure.close();
      rmSync(folder, { recursive: true });
    }
    expect(other.requests).toEqual([]);
  });

  it.each([301, 302, 303])('that would change the method to GET are returned: %i', async (code) => {
    server.answer = status(code, { location: other.url });
    expect((await post(server.url)).status).toBe(code);
    expect(other.requests).toEqual([]);
  });

  it.each([
    'http://169.254.169.254/latest/meta-data/',
    'http://[fd00:ec2::254]/',
    'http://10.0.0.1/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://2852039166/',
    'file:///etc/passwd',
  ])('to private addresses are not followed: %s', async (location) => {
    server.answer = status(307, { location });
    await expect(post(server.url)).rejects.toMatchObject({ failure: 'forbidden' });
  });
});

it('the DNS lookup returns only the checked addresses, one or all as requested', () => {
  const addresses = [
    { address: '192.0.2.1', family: 4 as const },
    { address: '2001:db8::1', family: 6 as const },
  ];
  const answers: unknown[][] = [];
  const lookup = pinned(addresses);
  for (const all of [true, false]) lookup('any.test', { all }, (...answer: unknown[]) => void answers.push(answer));
  expect(answers).toEqual([
    [null, addresses],
    [null, '192.0.2.1', 4],
  ]);
});

describe('a download', () => {
  it('leaves no timer behind that would keep the process alive, as a request does not', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = timers();
    await post(server.url, { connectMs: 100_000, totalMs: 100_000 });
    await textOf(await get());
    await expect.poll(timers, { timeout: 10_000 }).toBeLessThanOrEqual(before);
  });

  const get = (limits = {}) =>
    download({ url: server.url, headers: { authorization: 'secret' } }, { idleMs: 2_000, ...limits });
  const textOf = async (answer: Awaited<ReturnType<typeof download>>) => {
    let text = '';
    for await (const chunk of answer) text += chunk;
    return text;
  };

  it('follows redirects of any kind, without credentials for another origin', async () => {
    for (const code of [301, 302, 303, 307, 308]) {
      other.requests.length = 0;
      server.answer = status(code, { location: other.url });
      other.answer = (_, response) => response.writeHead(200).end('content');
      const answer = await get();
      expect([answer.statusCode, await textOf(answer)]).toEqual([200, 'content']);
      expect(other.requests).toMatchObject([{ method: 'GET' }]);
      expect(other.requests[0]?.headers).not.toHaveProperty('authorization');
    }
    for (const [code, headers] of [
      [404, {}],
      [302, {}],
      [200, { location: '/elsewhere' }],
    ] as const) {
      server.answer = status(code, headers);
      expect((await get()).statusCode).toBe(code);
    }
    server.answer = (_, response) => void setTimeout(() => response.writeHead(200).end('late'), 200);
    expect(await textOf(await get({ connectMs: 100 })), 'slower than a connection may be').toBe('late');
  });

  it('fails when it is redirected in a circle or to a private address, or stalls', async () => {
    server.answer = status(302, { location: '/again' });
    await expect(get()).rejects.toMatchObject(failure('unreachable', 'redirects more than'));
    server.answer = status(302, { location: 'http://169.254.169.254/' });
    await expect(get()).rejects.toMatchObject({ failure: 'forbidden' });
    server.answer = hang;
    await expect(get({ idleMs: 50 })).rejects.toMatchObject({ failure: 'timeout' });
    await expect(get({ totalMs: 50 })).rejects.toMatchObject({ failure: 'timeout' });
    server.answer = (_, response) => response.destroy();
    await expect(get()).rejects.toMatchObject({ failure: 'unreachable' });
  });
});
