import { AsyncLocalStorage } from 'node:async_hooks';
import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { expect, it, vi } from 'vitest';
import type { S3Calls } from '#infra/local/aws/s3/s3-calls.ts';
import { Cut } from '#infra/local/host/answers.ts';
import type { Calls } from '#infra/local/host/calls.ts';
import { AwsError } from '#infra/local/host/errors.ts';
import { servicesOf } from '#infra/local/host/services.ts';

const caller = { name: 'F', check: () => {}, may: () => true };
const having = (calls: { [name in keyof Calls]?: unknown }) => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
  const ready = Promise.resolve({ calls: calls as Calls, s3: {} as S3Calls, log: () => {} });
  return servicesOf(ready, caller, () => 'Root=1');
};
const get = new GetItemCommand({ TableName: 'T', Key: {} });

it('a call does not pass the function’s context to work that it starts', async () => {
  const context = new AsyncLocalStorage<string>();
  const seen: unknown[] = [];
  const services = having({
    operate: async () => ({ store: context.getStore() }),
    invoke: async () => void seen.push(context.getStore()),
  });
  await context.run('of the caller', async () => {
    expect(await services.table.send(get)).toEqual({ store: undefined });
    await services.invoke('F', {});
    expect(context.getStore()).toBe('of the caller');
  });
  expect(seen).toEqual([undefined]);
});

it('a function that is called returns its result, or its error', async () => {
  const answers = [{ payload: '{"a":1}' }, { payload: '{}', failure: { errorType: 'E', errorMessage: 'broken' } }];
  const services = having({ invoke: async () => answers.shift() });
  expect(await services.call('F', {})).toEqual({ a: 1 });
  await expect(services.call('F', {})).rejects.toThrow('F failed: broken');
});

it('a command passes its input, the caller and the trace', async () => {
  const operate = vi.fn(async () => ({ Item: { pk: { S: 'A' } } }));
  expect(await having({ operate }).table.send(get)).toEqual({ Item: { pk: { S: 'A' } } });
  expect(operate).toHaveBeenCalledWith('dynamodb', 'GetItem', get.input, { caller, traceHeader: 'Root=1' });
});

it('a call rejects with code and status of an error', async () => {
  const refused = having({ operate: () => Promise.reject(new AwsError('ValidationException', 'not so')) });
  const refusal = { name: 'ValidationException', message: 'not so', statusCode: 400 };
  await expect(refused.table.send(get)).rejects.toMatchObject(refusal);
  const defect = having({ operate: () => Promise.reject(new TypeError('ours')) });
  await expect(defect.keys('Decrypt', {})).rejects.toMatchObject({ name: 'InternalFailure', statusCode: 500 });
});

it('a call that finds a full disk is not repeated, and says so', async () => {
  for (const full of [{ errcode: 13 }, { code: 'ENOSPC' }, { code: 'EDQUOT' }]) {
    const operate = vi.fn(() => Promise.reject(Object.assign(new Error('full'), full)));
    await expect(having({ operate }).table.send(get)).rejects.toMatchObject({
      name: 'InsufficientStorage',
      statusCode: 507,
    });
    expect(operate).toHaveBeenCalledTimes(1);
  }
});

it('a call fails like a lost connection if each response is dropped', async () => {
  const operate = vi.fn(() => Promise.reject(new Cut()));
  await expect(having({ operate }).table.send(get)).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(operate).toHaveBeenCalledTimes(4);
});

it('an e-mail is sent at most twice', async () => {
  const email = vi.fn(() => Promise.reject(new Cut()));
  await expect(having({ email }).mail({})).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(email).toHaveBeenCalledTimes(2);
});

it('a connection that is gone is a result', async () => {
  const connection = vi.fn(() => Promise.reject(new AwsError('GoneException', 'gone', 410)));
  expect(await having({ connection }).connection('https://sockets/logs', 'a=', 'hi')).toBe(false);
  expect(connection).toHaveBeenCalledWith('logs', 'a=', 'hi', expect.anything());
});
