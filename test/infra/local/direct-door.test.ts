import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it, vi } from 'vitest';
import type { S3Calls } from '#infra/local/aws/s3/s3-calls.ts';
import { Cut, reply } from '#infra/local/host/answers.ts';
import type { Calls } from '#infra/local/host/calls.ts';
import { directDoor } from '#infra/local/host/direct-door.ts';
import { AwsError } from '#infra/local/host/errors.ts';

const open = (calls: Partial<Pick<Calls, 'answer' | 'operate'>>) => {
  const ready = Promise.resolve({ calls: calls as Calls, s3: {} as S3Calls, log: () => {} });
  return directDoor(ready, { name: 'F', check: () => {}, may: () => true }, () => 'Root=1');
};
const request = { service: 'dynamodb', method: 'POST', path: '/', headers: {} };

it('an in-memory call does not pass the function’s context to work that it starts', async () => {
  const context = new AsyncLocalStorage<string>();
  const door = open({
    answer: async () => reply(200, 'text/plain', String(context.getStore())),
    operate: async () => ({ store: context.getStore() }),
  });
  await context.run('of the caller', async () => {
    expect(String((await door.request(request)).body)).toBe('undefined');
    expect(await door.table('GetItem', {})).toEqual({ store: undefined });
    expect(context.getStore()).toBe('of the caller');
  });
});

it('an in-memory call times out', async () => {
  const door = open({ answer: () => new Promise(() => {}) });
  await expect(door.request({ ...request, timeoutMs: 10 })).rejects.toThrow('no answer within 10 ms');
});

describe('an operation of the table', () => {
  it('passes input and output unchanged', async () => {
    const operate = vi.fn(async () => ({ Item: { pk: { S: 'A' } } }));
    const input = { TableName: 'T' };
    expect(await open({ operate }).table('GetItem', input)).toEqual({ Item: { pk: { S: 'A' } } });
    const operation = { service: 'dynamodb', action: 'GetItem', input, traceHeader: 'Root=1' };
    expect(operate).toHaveBeenCalledWith(operation, expect.objectContaining({ name: 'F' }));
  });

  it('rejects with code and status of an error', async () => {
    const refused = open({ operate: () => Promise.reject(new AwsError('ValidationException', 'not so')) });
    const refusal = { name: 'ValidationException', message: 'not so', status: 400 };
    await expect(refused.table('GetItem', {})).rejects.toMatchObject(refusal);
    const defect = open({ operate: () => Promise.reject(new TypeError('ours')) });
    await expect(defect.table('GetItem', {})).rejects.toMatchObject({ name: 'InternalFailure', status: 500 });
  });

  it('fails like a lost connection if the response is dropped', async () => {
    const door = open({ operate: () => Promise.reject(new Cut()) });
    await expect(door.table('GetItem', {})).rejects.toMatchObject({ code: 'ECONNRESET' });
  });
});
