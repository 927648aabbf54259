import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { generate } from 'selfsigned';
import { afterAll, describe, expect, it } from 'vitest';
import { HttpApi } from '#infra/local/host/http.ts';
import { arnOf, hostFunctions } from './support/functions.ts';

/** Requests that are slow, incomplete, malformed or too large, to a listener with short timeouts. */

const { lambda, usage } = hostFunctions({ Echo: { handler: 'async (event) => event' } });
const lines: string[] = [];
const api = new HttpApi((line) => lines.push(line), {
  headersTimeout: 300,
  requestTimeout: 600,
  keepAliveTimeout: 1_000,
  connectionsCheckingInterval: 50,
  handshakeTimeout: 300,
  idleTimeout: 1_500,
});

const serving = (at: number) => ({
  home: { accountId: '000000000000', region: 'us-east-1', apiUrl: `http://localhost:${at}` },
  apiId: 'api',
  routes: [{ key: 'ANY /echo/{proxy+}', functionArn: arnOf('Echo'), timeoutMs: 5_000 }],
  lambda,
  usage,
});

const port = await api.listen(0);
const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }]);
const securePort = await api.listen(0, { key, cert });
api.serve(serving(port));
afterAll(async () => {
  api.closeAll();
  await api.close();
});

/** All data until the connection closes, including an error: the server may have closed it first. */
const answerTo = (request: string | Buffer, socket: Socket = connect(port, '127.0.0.1')): Promise<string> => {
  let answer = '';
  socket.setEncoding('utf8').on('data', (part) => {
    answer += part;
  });
  socket.on('error', () => {});
  socket.write(request);
  return new Promise((resolve) => socket.on('close', () => resolve(answer)));
};

const detailOf = (answer: string): string => JSON.parse(answer.split('\r\n\r\n')[1] ?? '').errors[0].detail;

const stillServes = async () => expect((await fetch(`http://localhost:${port}/nowhere`)).status).toBe(404);

describe('an incomplete request', () => {
  it.each([
    ['nothing but a connection', ''],
    ['half a header', 'GET /echo/x HTTP/1.1\r\nHost'],
    ['headers without an end', 'GET /echo/x HTTP/1.1\r\nHost: localhost\r\nX: y\r\n'],
    ['half a body', 'POST /echo/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf'],
    ['half a chunk', 'POST /echo/x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nhalf'],
  ])('(%s) gets an error and is closed', async (_, begin) => {
    const answer = await answerTo(begin);
    expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(answer).toContain('content-type: application/vnd.api+json');
    expect(detailOf(answer)).toMatch(/did not arrive in time/);
  });

  it('cannot be sent byte by byte without end', async () => {
    const socket = connect(port, '127.0.0.1');
    const drip = setInterval(() => socket.write('x'), 20);
    const answer = await answerTo('GET /echo/x HTTP/1.1\r\nHost: localhost\r\nX: ', socket);
    clearInterval(drip);
    expect(answer).toContain('408');
    const body = connect(port, '127.0.0.1');
    const more = setInterval(() => body.write('x'), 20);
    expect(await answerTo('POST /echo/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999\r\n\r\n', body)).toContain(
      '408',
    );
    clearInterval(more);
  });

  it('does not delay other requests', async () => {
    const slow = Array.from({ length: 200 }, () => answerTo('POST /echo/x HTTP/1.1\r\nHost: localhost\r\nContent-Le'));
    await stillServes();
    const answers = await Promise.all(slow);
    expect(answers.filter((answer) => answer.includes('408'))).toHaveLength(200);
  });

  it('is dropped when its client disconnects', async () => {
    const socket = connect(port, '127.0.0.1');
    socket.write('POST /echo/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf');
    await new Promise((resolve) => socket.once('connect', resolve));
    socket.destroy();
    await stillServes();
    expect(lines.filter((line) => line.includes('aborted'))).toEqual([]);
  });

  it('is closed during the TLS handshake too', async () => {
    expect(await answerTo(Buffer.from([0x16, 0x03, 0x01]), connect(securePort, '127.0.0.1'))).toBe('');
    const secure = connectSecurely({ port: securePort, host: '127.0.0.1', rejectUnauthorized: false });
    expect(await answerTo('GET /echo/x HTTP/1.1\r\nHost', secure)).toContain('408');
  });
});

describe('a malformed request', () => {
  it.each([
    ['nonsense', 'NONSENSE\r\n\r\n'],
    ['TLS on the plain port', '\u0016\u0003\u0001\u0000'],
    ['two lengths', 'POST /echo/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx'],
    [
      'a length and chunks',
      'POST /echo/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a header with a line break', 'GET /echo/x HTTP/1.1\r\nHost: localhost\r\nX: y\u0000z\r\n\r\n'],
  ])('(%s) gets an error', async (_, request) => {
    const answer = await answerTo(request);
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(detailOf(answer)).toMatch(/not an HTTP request/);
    await stillServes();
  });

  it.each([
    ['headers', `GET /echo/x HTTP/1.1\r\nHost: localhost\r\nX: ${'y'.repeat(11_000)}\r\n\r\n`],
    ['a query', `GET /echo/x?${'y'.repeat(11_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`],
  ])('(%s over 10 KB) gets an error', async (_, request) => {
    const answer = await answerTo(request);
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    expect(detailOf(answer)).toMatch(/at most 10 KB/);
  });

  it('(a body over 10 MB) is rejected early', async () => {
    // A listener with short timeouts may close before all of it was sent.
    const patient = new HttpApi((line) => lines.push(line));
    const patientPort = await patient.listen(0);
    patient.serve(serving(patientPort));
    const answered = (request: string) => answerTo(request, connect(patientPort, '127.0.0.1'));
    const announced = 'POST /echo/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n';
    expect(await answered(announced)).toContain('413');
    // Little more than the listener reads: closing a connection with unread data loses the response.
    const chunk = `100000\r\n${'x'.repeat(0x100000)}\r\n`;
    const chunked = `POST /echo/x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(10)}1\r\nx\r\n`;
    expect(await answered(chunked)).toContain('413');
    patient.closeAll();
    await patient.close();
  });
});

describe('a response', () => {
  /** The data that a client gets by single reads, as Go's does. */
  const reads = async (bytes: number): Promise<string[]> => {
    const socket = connectSecurely({ port: securePort, host: '127.0.0.1', rejectUnauthorized: false });
    const got: string[] = [];
    socket.setEncoding('utf8').on('data', (part: string) => got.push(part));
    socket.write(`GET /echo/${'x'.repeat(bytes)} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    await new Promise((resolve) => socket.on('close', resolve));
    return got;
  };

  it('that is long arrives separately from its headers, which a client reads with the next 4 KB', async () => {
    const [headers, body] = await reads(3_000);
    expect(headers).toMatch(/^HTTP\/1.1 200 OK\r\n[\s\S]*\r\n\r\n$/);
    expect(body).toMatch(/^\{"version":"2.0"/);
  });

  it('that is short arrives with its headers', async () => {
    expect(await reads(1)).toHaveLength(1);
  });
});
