import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, it } from 'vitest';
import { reply } from '../../../infra/local/answers.ts';
import type { Calls } from '../../../infra/local/calls.ts';
import { directDoor } from '../../../infra/local/direct-door.ts';
import type { S3Calls } from '../../../infra/local/s3-calls.ts';

it('does not hand the context of a function to what its call starts', async () => {
  const context = new AsyncLocalStorage<string>();
  const calls = { answer: async () => reply(200, 'text/plain', String(context.getStore())) } as unknown as Calls;
  const ready = Promise.resolve({ calls, s3: {} as S3Calls, log: () => {} });
  const call = directDoor(ready, { name: 'F', check: () => {}, may: () => true }, () => undefined);
  await context.run('of the caller', async () => {
    const { body } = await call({ service: 'dynamodb', method: 'POST', path: '/', headers: {} });
    expect(String(body)).toBe('undefined');
    expect(context.getStore()).toBe('of the caller');
  });
});
