import { beforeEach, expect, it, vi } from 'vitest';
import type { DirectCalls } from '#platform/store/direct-calls.ts';
import { callTable } from '#platform/store/direct-table.ts';

/** Returns these answers one after the other. */
const serve = (...answers: (object | Error)[]) => {
  const calls: unknown[][] = [];
  const table = async (...call: unknown[]) => {
    calls.push(call);
    const answer = answers[Math.min(calls.length, answers.length) - 1] as object | Error;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { call: (input: object) => callTable({ table } as unknown as DirectCalls, 'GetItem', input), calls };
};

const refusal = (name: string, status = 400) => Object.assign(new Error('said'), { name, status });

beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
  vi.stubEnv('AWS_MAX_ATTEMPTS', '3');
  return () => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  };
});

it('a direct call passes input and output unchanged', async () => {
  const output = { Item: { a: { S: 'A' } } };
  const { call, calls } = serve(output);
  const input = { TableName: 'T' };
  expect(await call(input)).toBe(output);
  expect(calls).toEqual([['GetItem', input]]);
});

it('a direct call throws a refusal with its error code, without a retry', async () => {
  const { call, calls } = serve(refusal('ConditionalCheckFailedException'));
  await expect(call({})).rejects.toMatchObject({ name: 'ConditionalCheckFailedException', message: 'said' });
  expect(calls).toHaveLength(1);
});

it('a direct call is retried after throttling, a service fault and a lost connection', async () => {
  const throttled = refusal('ProvisionedThroughputExceededException');
  const { call, calls } = serve(throttled, refusal('InternalServerError', 500), {});
  expect(await call({})).toEqual({});
  expect(calls).toHaveLength(3);
  const lost = serve(new Error('socket hang up'), { ok: true });
  expect(await lost.call({})).toEqual({ ok: true });
});

it('a direct call fails after the last retry', async () => {
  const { call, calls } = serve(refusal('ThrottlingException'));
  await expect(call({})).rejects.toMatchObject({ name: 'ThrottlingException' });
  expect(calls).toHaveLength(3);
});
