import { text } from 'node:stream/consumers';
import { beforeEach, expect, it, vi } from 'vitest';
import { retryFor } from '#platform/net/transport/retry.ts';
import { copyObject, putOnce } from '#platform/store/bucket.ts';
import { sha256Of } from '#platform/store/integrity.ts';
import { batchGet, TableThrottledError } from '#platform/store/table.ts';
import { createOnly, upload } from '#runner/program/transfer.ts';
import { serve } from '#test/support/serve.ts';

/** Refusals of S3 and DynamoDB that pass, as AWS documents them: a server gives them before it accepts. */

/** Responses in order; the last one repeats. */
let answers: { status: number; body: string }[];
/** Time of each request. */
let requests: number[];

const server = await serve(async (request, response) => {
  await text(request);
  requests.push(performance.now());
  const { status, body } = (answers.length > 1 ? answers.shift() : answers[0]) ?? { status: 500, body: '' };
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(body);
});
const url = server.url;
const variables = {
  AWS_ENDPOINT_URL: url,
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'key',
  AWS_SECRET_ACCESS_KEY: 'secret',
  BUCKET_NAME: 'bucket',
  TABLE_NAME: 'table',
};
for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
beforeEach(() => {
  requests = [];
});

const error = (code: string) => `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code></Error>`;
const conflict = { status: 409, body: error('ConditionalRequestConflict') };
const content = new Uint8Array(Buffer.from('content'));
const sha256 = sha256Of(content);

it('a conditional write that meets another one is repeated by the platform', async () => {
  answers = [conflict, conflict, { status: 200, body: '' }];
  await putOnce('states/a', content, sha256);
  expect(requests).toHaveLength(3);
});

it('a conditional upload that meets another one is repeated by the runner', async () => {
  answers = [conflict, { status: 412, body: error('PreconditionFailed') }];
  await upload(`${url}/states/a?X-Amz-Signature=1`, content, retryFor(10_000), createOnly);
  expect(requests).toHaveLength(2);
});

it('any other conflict is an error at once', async () => {
  answers = [{ status: 409, body: error('BucketAlreadyExists') }];
  await expect(putOnce('states/a', content, sha256)).rejects.toThrow('BucketAlreadyExists');
  expect(requests).toHaveLength(1);
});

it('a copy that S3 answers with 200 and an error is repeated', async () => {
  const checksum = Buffer.from(sha256, 'hex').toString('base64');
  const copied = `<CopyObjectResult><ChecksumSHA256>${checksum}</ChecksumSHA256></CopyObjectResult>`;
  answers = [
    { status: 200, body: error('InternalError') },
    { status: 200, body: copied },
  ];
  expect(await copyObject('uploads/a', 'states/a')).toBe(sha256);
  expect(requests).toHaveLength(2);
});

const key = { pk: 'P', sk: 'S' };
const attributes = { pk: { S: 'P' }, sk: { S: 'S' } };
const unprocessed = {
  status: 200,
  body: JSON.stringify({ Responses: { table: [] }, UnprocessedKeys: { table: { Keys: [attributes] } } }),
};

it('keys of a throttled partition are read again with growing pauses', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  const found = { status: 200, body: JSON.stringify({ Responses: { table: [attributes] }, UnprocessedKeys: {} }) };
  answers = [unprocessed, unprocessed, unprocessed, found];
  expect(await batchGet([key])).toEqual([key]);
  const pauses = requests.slice(1).map((at, n) => at - (requests[n] ?? 0));
  for (const [n, pause] of pauses.entries()) expect(pause).toBeGreaterThanOrEqual(45 * 2 ** n);
});

it('reading a table that stays throttled ends with an error, within the time limit of a function', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0.01);
  answers = [unprocessed];
  await expect(batchGet([key])).rejects.toThrow(TableThrottledError);
  expect(requests).toHaveLength(12);
});
