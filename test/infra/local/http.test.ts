import type { ServerResponse } from 'node:http';
import { afterAll, describe, expect, it } from 'vitest';
import { HttpApi } from '#infra/local/host/http.ts';
import { writeAnswer } from '#infra/local/host/http-event.ts';
import { arnOf, hostFunctions } from './support/functions.ts';

const { lambda, usage } = hostFunctions({
  Echo: { handler: 'async (event) => event' },
  Answer: { handler: 'async (event) => JSON.parse(event.body)' },
  Fails: { handler: 'async () => { throw new Error("no") }' },
  Slow: { handler: '() => new Promise(() => {})' },
});
const api = new HttpApi(() => {});

const port = await api.listen(0);
const url = `http://localhost:${port}`;
const route = (key: string, name: string, timeoutMs = 5_000) => ({ key, functionArn: arnOf(name), timeoutMs });
api.serve({
  home: { accountId: '000000000000', region: 'us-east-1', apiUrl: url },
  apiId: 'api',
  routes: [
    route('ANY /echo/{proxy+}', 'Echo'),
    route('POST /answer', 'Answer'),
    route('GET /fails', 'Fails'),
    route('GET /slow', 'Slow', 100),
  ],
  lambda,
  usage,
});
afterAll(async () => {
  api.closeAll();
  await api.close();
});

const echo = async (path: string, init?: RequestInit) =>
  (await (await fetch(`${url}/echo/${path}`, init)).json()) as Record<string, never>;
const answer = (body: unknown) =>
  fetch(`${url}/answer`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

describe('an event', () => {
  it('has the shape of payload format 2.0', async () => {
    const event = await echo('a?x=1', { headers: { 'X-Own': 'v', cookie: 'a=1; b=2' } });
    expect(event).toMatchObject({
      version: '2.0',
      routeKey: 'ANY /echo/{proxy+}',
      rawPath: '/echo/a',
      rawQueryString: 'x=1',
      cookies: ['a=1', 'b=2'],
      headers: {
        'x-own': 'v',
        host: `localhost:${port}`,
        'x-forwarded-proto': 'http',
        'x-forwarded-port': String(port),
        'x-amzn-trace-id': expect.stringMatching(/^Root=1-[0-9a-f]{8}-[0-9a-f]{24}$/),
      },
      queryStringParameters: { x: '1' },
      pathParameters: { proxy: 'a' },
      requestContext: {
        accountId: '000000000000',
        apiId: 'api',
        http: {
          method: 'GET',
          path: '/echo/a',
          protocol: 'HTTP/1.1',
          sourceIp: expect.stringMatching(/^(127\.0\.0\.1|::1)$/),
        },
        routeKey: 'ANY /echo/{proxy+}',
        stage: '$default',
        time: expect.stringMatching(/^\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000$/),
        timeEpoch: expect.any(Number),
      },
      isBase64Encoded: false,
    });
    expect(event.headers).not.toHaveProperty('cookie');
    expect(event).not.toHaveProperty('body');
  });

  it('has the raw query, and decoded parameters with joined repetitions', async () => {
    const event = await echo('a?f%5Bx%5D=a%20b&t=1&t=2&t=c,d&empty=');
    expect(event.rawQueryString).toBe('f%5Bx%5D=a%20b&t=1&t=2&t=c,d&empty=');
    expect(event.queryStringParameters).toEqual({ 'f[x]': 'a b', t: '1,2,c,d', empty: '' });
    expect(await echo('a')).not.toHaveProperty('queryStringParameters');
  });

  it('has the decoded path', async () => {
    const event = await echo('na%2Fme/%C3%A9?q=%C3%A9');
    expect(event.rawPath).toBe('/echo/na/me/é');
    expect(event.pathParameters).toEqual({ proxy: 'na/me/é' });
    expect((await fetch(`${url}/echo/%zz`)).status).toBe(400);
  });

  it.each([
    ['application/json', '{"é":1}', false],
    ['application/vnd.api+json; charset=utf-8', '{}', true],
    ['text/plain', 'hi', false],
    ['application/octet-stream', 'hi', true],
    ['application/x-www-form-urlencoded', 'a=1', true],
    [undefined, '{"a":1}', true],
  ])('has a body of type %s', async (type, body, base64) => {
    const event = await echo('b', {
      method: 'POST',
      headers: type ? { 'content-type': type } : {},
      body: Buffer.from(body),
    });
    expect(event.isBase64Encoded).toBe(base64);
    expect(Buffer.from(event.body!, base64 ? 'base64' : 'utf8').toString()).toBe(body);
  });

  it('passes invalid UTF-8 as base64', async () => {
    const bytes = Buffer.from([0x7b, 0xff, 0xfe, 0x00]);
    const event = await echo('b', { method: 'PUT', headers: { 'content-type': 'application/json' }, body: bytes });
    expect(Buffer.from(event.body!, 'base64')).toEqual(bytes);
  });
});

describe('a response', () => {
  it('sets status, headers, cookies and body', async () => {
    const response = await answer({
      statusCode: 201,
      headers: { 'X-A': 'b', 'Content-Type': 'text/x' },
      cookies: ['a=1', 'b=2'],
      body: 'é',
    });
    expect(response.status).toBe(201);
    expect(response.headers.get('x-a')).toBe('b');
    expect(response.headers.get('content-type')).toBe('text/x');
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(await response.text()).toBe('é');
  });

  it('leaves out headers that JSON would', () => {
    let written: Record<string, unknown> = {};
    const response = {
      writeHead: (_: number, headers: Record<string, unknown>) => {
        written = headers;
      },
      end: () => {},
    } as unknown as ServerResponse;
    const http = { statusCode: 200, headers: { a: undefined, b: 1, c: true }, body: '{}' };
    writeAnswer(response, { http, payload: JSON.stringify(http) }, false);
    expect(Object.keys(written).sort()).toEqual(['apigw-requestid', 'b', 'c', 'content-length', 'content-type']);
    expect([written.b, written.c]).toEqual(['1', 'true']);
  });

  it('decodes base64', async () => {
    const response = await answer({
      statusCode: 200,
      body: Buffer.from([0, 255]).toString('base64'),
      isBase64Encoded: true,
    });
    expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.from([0, 255]));
  });

  it('without a status is used as the JSON body', async () => {
    const response = await answer({ hello: 1 });
    expect([response.status, response.headers.get('content-type'), await response.json()]).toEqual([
      200,
      'application/json',
      { hello: 1 },
    ]);
  });

  it('may have an empty body', async () => {
    const response = await answer({ statusCode: 204 });
    expect([response.status, await response.text()]).toEqual([204, '']);
  });
});

describe('the listener', () => {
  it.each([
    ['GET', '/nowhere', 404, 'Not Found'],
    ['GET', '/answer', 404, 'Not Found'],
    ['GET', '/fails', 500, 'Internal Server Error'],
    ['GET', '/slow', 503, 'Service Unavailable'],
  ])('answers %s %s with %d', async (method, path, status, message) => {
    const response = await fetch(url + path, { method });
    expect([response.status, await response.json()]).toEqual([status, { message }]);
  });

  it('rejects a body over the limit, with or without a length', async () => {
    const big = Buffer.alloc(10 * 1024 * 1024 + 1);
    expect((await fetch(`${url}/echo/x`, { method: 'POST', body: big })).status).toBe(413);
    // Below the limit of the API, but in base64 above that of a function.
    expect((await fetch(`${url}/echo/x`, { method: 'POST', body: big.subarray(0, 5 * 1024 * 1024) })).status).toBe(413);
    expect((await fetch(`${url}/nowhere`)).status).toBe(404);
  });
});
