import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { type Front, noFront, readFront } from '#infra/local/host/front.ts';
import { HttpApi } from '#infra/local/host/http.ts';
import { arnOf, hostFunctions } from './support/functions.ts';

/** Hosts that a platform on one machine accepts, and the client address of a request. */

const { lambda, usage } = hostFunctions({ Echo: { handler: 'async (event) => event' } });
const apis: HttpApi[] = [];
afterAll(async () => {
  for (const api of apis) {
    api.closeAll();
    await api.close();
  }
});

const start = async (front: Front = noFront): Promise<number> => {
  const api = new HttpApi(() => {});
  apis.push(api);
  const port = await api.listen(0);
  api.serve({
    home: { accountId: '000000000000', region: 'us-east-1', apiUrl: `http://localhost:${port}` },
    apiId: 'api',
    routes: [{ key: 'ANY /echo/{proxy+}', functionArn: arnOf('Echo'), timeoutMs: 5_000 }],
    lambda,
    usage,
    front,
  });
  return port;
};

interface Echoed {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: an event
  event: any;
}

/** `fetch` sets the host itself. */
const ask = (port: number, headers: Record<string, string | string[]>): Promise<Echoed> =>
  new Promise((resolve, reject) => {
    const sent = httpRequest({ host: '127.0.0.1', port, path: '/echo/x', headers }, async (response) => {
      const text = (await response.toArray()).join('');
      resolve({ status: response.statusCode ?? 0, event: JSON.parse(text) });
    });
    sent.on('error', reject).end();
  });

const proxied = readFront({
  STEPFORM_PUBLIC_URL: 'https://stepform.example.com, http://intern.example:8000',
  STEPFORM_TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8',
});

describe('the host of a request', () => {
  it.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'evil.example:8080',
    'localhost@evil.example',
  ])('is refused when it is "%s"', async (host) => {
    const { status, event } = await ask(await start(), { host });
    expect([status, event.message]).toEqual([421, expect.stringContaining('STEPFORM_PUBLIC_URL')]);
  });

  it('is refused when it is sent twice', async () => {
    const socket = connect(await start(), '127.0.0.1');
    socket.end('GET /echo/x HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n');
    expect((await socket.setEncoding('utf8').toArray()).join('')).toMatch(/^HTTP\/1.1 4(00|21) /);
  });

  it.each(['localhost', 'localhost:1', '127.0.0.1:8080', '[::1]:8080'])('may be loopback: %s', async (host) => {
    const { status, event } = await ask(await start(), { host, 'x-forwarded-proto': 'https' });
    expect([status, event.headers.host, event.headers['x-forwarded-proto']]).toEqual([200, host, 'http']);
  });

  it('may be an address that the operator names, with its scheme', async () => {
    const port = await start(proxied);
    const schemes: string[] = [];
    for (const host of ['stepform.example.com', 'STEPFORM.example.com', 'intern.example:8000']) {
      schemes.push((await ask(port, { host })).event.headers['x-forwarded-proto']);
    }
    expect(schemes).toEqual(['https', 'https', 'http']);
    expect((await ask(port, { host: 'intern.example' })).status).toBe(421);
  });
});

describe('the address of a request', () => {
  const addressOf = async (front: Front, forwarded: string | string[]): Promise<string> => {
    const { event } = await ask(await start(front), { host: 'localhost', 'x-forwarded-for': forwarded });
    return event.requestContext.http.sourceIp;
  };

  it('is the connection’s without trusted proxies, for any headers', async () => {
    expect(await addressOf(noFront, '203.0.113.7')).toBe('127.0.0.1');
  });

  it('is what the last trusted proxy forwards', async () => {
    expect(await addressOf(proxied, '203.0.113.7')).toBe('203.0.113.7');
    expect(await addressOf(proxied, '2001:db8::7')).toBe('2001:db8::7');
    expect(await addressOf(proxied, '203.0.113.7, 10.1.2.3')).toBe('203.0.113.7');
    expect(await addressOf(proxied, ['203.0.113.7', '10.1.2.3'])).toBe('203.0.113.7');
  });

  it('is not what a client claims before the first proxy', async () => {
    expect(await addressOf(proxied, '198.51.100.1, 203.0.113.7')).toBe('203.0.113.7');
    expect(await addressOf(proxied, '10.9.9.9, 203.0.113.7, 10.1.2.3')).toBe('203.0.113.7');
  });

  it('is the proxy’s own when it forwards none, or no address', async () => {
    expect(await addressOf(proxied, 'unknown')).toBe('127.0.0.1');
    expect(await addressOf(proxied, 'nonsense, 10.1.2.3')).toBe('10.1.2.3');
    const { event } = await ask(await start(proxied), { host: 'localhost' });
    expect(event.requestContext.http.sourceIp).toBe('127.0.0.1');
  });
});

it.each([
  ['STEPFORM_PUBLIC_URL', 'stepform.example.com'],
  ['STEPFORM_PUBLIC_URL', 'https://stepform.example.com/path'],
  ['STEPFORM_PUBLIC_URL', 'ftp://stepform.example.com'],
  ['STEPFORM_TRUSTED_PROXIES', 'proxy.example.com'],
  ['STEPFORM_TRUSTED_PROXIES', '10.0.0.1/8'],
  ['STEPFORM_TRUSTED_PROXIES', '10.0.0.0/33'],
])('the setting %s=%s is rejected', (name, value) => {
  expect(() => readFront({ [name]: value })).toThrow(name);
});

it.each([
  ['https://files.example.com/x', /without a path, e\.g\. https:\/\/files\./],
  ['https://stepform.example.com:444', /another host name/],
])('a storage URL %s is refused', (url, reason) => {
  const environment = { STEPFORM_PUBLIC_URL: 'https://stepform.example.com', STEPFORM_STORAGE_URL: url };
  expect(() => readFront(environment)).toThrow(reason);
  expect(() => readFront({ STEPFORM_STORAGE_URL: 'https://files.example.com' })).toThrow('needs STEPFORM_PUBLIC_URL');
});
