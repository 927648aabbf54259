import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it } from 'vitest';
import { Cut, type Reply, reply } from '../../../infra/local/answers.ts';
import type { Calls } from '../../../infra/local/calls.ts';
import { directDoor } from '../../../infra/local/direct-door.ts';
import { AwsError } from '../../../infra/local/errors.ts';
import type { S3Calls } from '../../../infra/local/s3-calls.ts';

const open = (answer: () => Promise<Reply>, answerInput?: (...given: unknown[]) => Promise<object>) => {
  const calls = { answer, answerInput } as unknown as Calls;
  const ready = Promise.resolve({ calls, s3: {} as S3Calls, log: () => {} });
  return directDoor(ready, { name: 'F', check: () => {}, may: () => true }, () => undefined);
};
const request = { service: 'dynamodb', method: 'POST', path: '/', headers: {} };

it('does not pass the context of a function to work that its call starts', async () => {
  const context = new AsyncLocalStorage<string>();
  const call = open(async () => reply(200, 'text/plain', String(context.getStore())));
  await context.run('of the caller', async () => {
    const { body } = await call(request);
    expect(String(body)).toBe('undefined');
    expect(context.getStore()).toBe('of the caller');
  });
});

it('times out slow calls', async () => {
  const call = open(() => new Promise(() => {}));
  await expect(call({ ...request, timeoutMs: 10 })).rejects.toThrow('no answer within 10 ms');
});

describe('with an input', () => {
  const none = () => Promise.reject(new Error('the text was read'));
  const withInput = { ...request, headers: { 'X-Amz-Target': 'DynamoDB_20120810.GetItem' }, input: { TableName: 'T' } };

  it('hands it over as it is, and the output back, without text', async () => {
    const given: unknown[] = [];
    const call = open(none, async (...parameters) => {
      given.push(...parameters);
      return { Item: { pk: { S: 'A' } } };
    });
    const reply = await call({
      ...withInput,
      get body(): string {
        throw new Error('the text was made');
      },
    });
    expect(reply.output).toEqual({ Item: { pk: { S: 'A' } } });
    expect(JSON.parse(String(reply.body))).toEqual(reply.output);
    expect(given.slice(0, 2)).toEqual([{ 'x-amz-target': 'DynamoDB_20120810.GetItem' }, { TableName: 'T' }]);
  });

  it('answers an error in the form of the service', async () => {
    const call = open(none, () => Promise.reject(new AwsError('ValidationException', 'not so')));
    const { status, body, output } = await call(withInput);
    expect([status, output]).toEqual([400, undefined]);
    expect(JSON.parse(String(body))).toMatchObject({ __type: 'ValidationException', message: 'not so' });
  });

  it('loses the connection where the answer is cut off', async () => {
    const call = open(none, () => Promise.reject(new Cut()));
    await expect(call(withInput)).rejects.toMatchObject({ code: 'ECONNRESET' });
  });
});
