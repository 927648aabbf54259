import { afterAll, afterEach, beforeEach, expect, it, vi } from 'vitest';
import { forgetParameters } from '#platform/store/parameters.ts';
import { collectLog, type LogLine } from '#test/support/logged.ts';
import { OtlpReceiver } from '#test/support/otlp-receiver.ts';
import { serve } from '#test/support/serve.ts';

/** Delivery of traces: headers from Parameter Store, retries, and the rules for outgoing requests. */

const trace = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [] }] }] });
let parameter: string | undefined;
let warnings: LogLine[];
let sendTrace: typeof import('#resources/traces/send.ts').sendTrace;

const receiver: OtlpReceiver = await OtlpReceiver.start();
const store = await serve(async (request, response) => {
  const parts: Buffer[] = [];
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
  const { Name, WithDecryption } = JSON.parse(Buffer.concat(parts).toString());
  const isAsked = Name === '/stepform/otlp-headers' && WithDecryption === true;
  if (isAsked && parameter) return response.writeHead(200).end(JSON.stringify({ Parameter: { Value: parameter } }));
  response.writeHead(400).end('{"__type":"ParameterNotFound"}');
});
afterAll(() => receiver.close());
beforeEach(async () => {
  vi.resetModules();
  ({ sendTrace } = await import('#resources/traces/send.ts'));
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
  vi.stubEnv('AWS_MAX_ATTEMPTS', '1');
  vi.stubEnv('AWS_ENDPOINT_URL_SSM', store.url);
  vi.stubEnv('OUTBOUND_ALLOWED_CIDRS', '127.0.0.0/8');
  vi.stubEnv('OTLP_ENDPOINT', receiver.url);
  vi.stubEnv('OTLP_HEADERS_PARAMETER', '/stepform/otlp-headers');
  parameter = 'Api-Key=s%2Cecret, x-team=a\n';
  receiver.status = 200;
  receiver.received.length = 0;
  warnings = collectLog('warn');
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  forgetParameters();
});

it('the headers of a trace come from Parameter Store', async () => {
  await sendTrace(trace);
  expect(receiver.received[0]?.headers).toMatchObject({
    'api-key': 's,ecret',
    'x-team': 'a',
    'content-type': 'application/json',
  });
  expect(warnings).toEqual([]);
});

it.each([
  [undefined, 'ParameterNotFound'],
  ['a=1,secret', 'header 2 is not name=value'],
  ['a=%zz', 'the value of header a is not percent-encoded UTF-8'],
])('without usable headers (%j) no trace is sent, and the log has the reason', async (value, reason) => {
  parameter = value;
  await sendTrace(trace);
  expect(receiver.received).toEqual([]);
  expect(warnings).toMatchObject([{ reason: expect.stringContaining(reason) }]);
  expect(JSON.stringify(warnings)).not.toContain('secret');
});

it('a receiver that is overloaded gets the trace again', async () => {
  receiver.status = 503;
  const sending = sendTrace(trace);
  await vi.waitFor(() => expect(receiver.received).toHaveLength(1));
  receiver.status = 200;
  await sending;
  expect([receiver.received.length, warnings]).toEqual([2, []]);
});

it('a receiver that refuses traces gets each once, and is named in the log once until it accepts one', async () => {
  receiver.status = 401;
  await sendTrace(trace);
  await sendTrace(trace);
  expect(receiver.received).toHaveLength(2);
  expect(warnings).toMatchObject([{ message: 'traces are not delivered', reason: 'it answered 401' }]);
  receiver.status = 200;
  await sendTrace(trace);
  receiver.status = 401;
  await sendTrace(trace);
  expect(warnings).toHaveLength(2);
});

it('an internal address that the operator has not allowed gets no trace', async () => {
  vi.stubEnv('OUTBOUND_ALLOWED_CIDRS', '');
  await sendTrace(trace);
  expect(receiver.received).toEqual([]);
  expect(warnings).toMatchObject([{ reason: expect.stringContaining('outboundAllowedCidrs') }]);
});
