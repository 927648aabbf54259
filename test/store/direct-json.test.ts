import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { DirectReply, DirectRequest } from '../../functions/store/direct-calls.ts';

const door = Symbol.for('stepform.direct-calls');
const own = process as unknown as Record<symbol, unknown>;

const reply = (status: number, body: object): DirectReply => ({
  status,
  headers: {},
  body: Buffer.from(JSON.stringify(body)),
});

/** Answers one request after the other. */
const serve = async (...answers: (DirectReply | Error)[]) => {
  const requests: DirectRequest[] = [];
  own[door] = async (request: DirectRequest) => {
    requests.push(request);
    const answer = answers[Math.min(requests.length, answers.length) - 1] as DirectReply | Error;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  vi.resetModules();
  const { callDirectly } = await import('../../functions/store/direct-json.ts');
  const call = (input: object) =>
    callDirectly({ service: 'dynamodb', target: 'DynamoDB_20120810.GetItem', maxTries: 3 }, input);
  return { call, requests };
};

beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
  delete own[door];
  vi.restoreAllMocks();
});

it('sends what the SDK would and returns the output', async () => {
  const { call, requests } = await serve(reply(200, { Item: { a: { N: '1' } } }));
  expect(await call({ TableName: 'T', Key: { pk: { S: 'A' } }, Limit: undefined })).toEqual({
    Item: { a: { N: '1' } },
  });
  expect(requests).toHaveLength(1);
  expect(requests[0]).toMatchObject({
    service: 'dynamodb',
    method: 'POST',
    path: '/',
    headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': 'DynamoDB_20120810.GetItem' },
    body: '{"TableName":"T","Key":{"pk":{"S":"A"}}}',
  });
});

it('hands the input over and takes an output without making or reading text', async () => {
  const { call, requests } = await serve({
    status: 200,
    headers: {},
    output: { Item: { a: { S: 'A' } } },
    get body(): Buffer {
      throw new Error('nobody reads the text');
    },
  });
  const input = { TableName: 'T' };
  expect(await call(input)).toEqual({ Item: { a: { S: 'A' } } });
  expect(requests[0]?.input).toBe(input);
});

it('sends and returns binary values as base64, and texts and maps called B as they are', async () => {
  const item = { a: { B: Buffer.from('x\u0000y') }, m: { M: { B: { S: 'eA==' } } } };
  const onWire = { a: { B: 'eAB5' }, m: { M: { B: { S: 'eA==' } } } };
  const { call, requests } = await serve(reply(200, { Item: onWire }));
  const { Item } = (await call({ Item: item })) as { Item: typeof item };
  expect(JSON.parse(requests[0]?.body as string)).toEqual({ Item: onWire });
  expect(Item).toEqual({ a: { B: new Uint8Array([120, 0, 121]) }, m: { M: { B: { S: 'eA==' } } } });
});

it('throws an error of the name of the code, without another try', async () => {
  const type = 'com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException';
  const { call, requests } = await serve(reply(400, { __type: type, message: 'The conditional request failed' }));
  await expect(call({})).rejects.toMatchObject({
    name: 'ConditionalCheckFailedException',
    message: 'The conditional request failed',
  });
  expect(requests).toHaveLength(1);
});

it('tries again after throttling, a fault of the service and a lost connection', async () => {
  const throttled = reply(400, { __type: 'x#ProvisionedThroughputExceededException' });
  const { call, requests } = await serve(throttled, reply(500, { __type: 'x#InternalServerError' }), reply(200, {}));
  expect(await call({})).toEqual({});
  expect(requests).toHaveLength(3);
  const lost = await serve(new Error('socket hang up'), reply(200, { ok: true }));
  expect(await lost.call({})).toEqual({ ok: true });
});

it('gives up after the last try', async () => {
  const { call, requests } = await serve(reply(400, { __type: 'x#ThrottlingException' }));
  await expect(call({})).rejects.toMatchObject({ name: 'ThrottlingException' });
  expect(requests).toHaveLength(3);
});
