import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { beforeEach, expect, it, vi } from 'vitest';
import { clientOf, connectionLost, retried } from '#infra/local/host/client.ts';
import { AwsError } from '#infra/local/host/errors.ts';
import type { Services } from '#platform/store/services.ts';

/** Fails with these errors one after the other, then succeeds. */
const failing = (...errors: Error[]) => {
  const left = [...errors];
  return vi.fn(async () => {
    const error = left.shift();
    if (error) throw error;
    return 'done';
  });
};

beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
  return () => vi.restoreAllMocks();
});

it('a client performs the command’s operation with its input', async () => {
  const perform = vi.fn(async () => ({ Item: { a: { S: 'A' } } }));
  const client = clientOf<Services['table']>(perform);
  const input = { TableName: 'T', Key: {} };
  expect(await client.send(new GetItemCommand(input))).toEqual({ Item: { a: { S: 'A' } } });
  expect(perform).toHaveBeenCalledExactlyOnceWith('GetItem', input);
});

it('a refusal is not retried', async () => {
  const call = failing(new AwsError('ConditionalCheckFailedException', 'said'));
  await expect(retried(call, 3)).rejects.toMatchObject({ name: 'ConditionalCheckFailedException', message: 'said' });
  expect(call).toHaveBeenCalledOnce();
});

it('a call is retried after throttling, a service fault and a lost connection', async () => {
  const throttled = new AwsError('ProvisionedThroughputExceededException', '');
  const call = failing(throttled, new AwsError('InternalServerError', '', 500), connectionLost());
  expect(await retried(call, 4)).toBe('done');
  expect(call).toHaveBeenCalledTimes(4);
});

it('a call fails after the last retry', async () => {
  const throttled = new AwsError('ThrottlingException', '');
  const call = failing(throttled, throttled, throttled);
  await expect(retried(call, 3)).rejects.toMatchObject({ name: 'ThrottlingException' });
  expect(call).toHaveBeenCalledTimes(3);
});
