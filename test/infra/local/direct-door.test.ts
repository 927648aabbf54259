import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, it } from 'vitest';
import { type Reply, reply } from '../../../infra/local/answers.ts';
import type { Calls } from '../../../infra/local/calls.ts';
import { directDoor } from '../../../infra/local/direct-door.ts';
import type { S3Calls } from '../../../infra/local/s3-calls.ts';

const open = (answer: () => Promise<Reply>) => {
  const ready = Promise.resolve({ calls: { answer } as unknown as Calls, s3: {} as S3Calls, log: () => {} });
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
