import { afterAll, beforeAll, expect, it } from 'vitest';
import { json } from '#api/answer.ts';
import { checkSize, isTooLarge, readWithin } from '#api/response-size.ts';
import { type Api, startApi } from '#test/support/api.ts';
import { stateFile } from '#test/support/state.ts';

let api: Api;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

it('a response is measured as Lambda does: as text in JSON', () => {
  expect(isTooLarge(json(200, 'a'.repeat(6_200_000)))).toBe(false);
  expect(isTooLarge(json(200, 'a'.repeat(6_300_000)))).toBe(true);
  expect(isTooLarge(json(200, '"'.repeat(1_600_000)))).toBe(true);
  expect(isTooLarge(json(200, 'é'.repeat(3_200_000)))).toBe(true);
  // The response to a completed change is never rejected.
  expect(checkSize('POST', json(200, 'a'.repeat(6_300_000))).statusCode).toBe(200);
});

it('a read stops at the response limit, and names the first item beyond it', async () => {
  const read: number[] = [];
  const of = (sizes: number[]) =>
    readWithin(
      sizes,
      async (size) => {
        read.push(size);
        return ['a'.repeat(size)];
      },
      (size) => `number ${size}`,
    );
  expect((await of([1, 2, 3])).map(([text]) => text?.length)).toEqual([1, 2, 3]);
  read.length = 0;
  const sizes = [1, 4_000_000, 3_000_000, 2, ...Array.from({ length: 20 }, () => 7)];
  await expect(of(sizes)).rejects.toMatchObject({
    status: 400,
    errors: [{ detail: expect.stringContaining('number 3000000') }],
  });
  expect(read).toEqual(sizes.slice(0, 4));
});

it('a response that is too large is rejected with 400 and the remedy', async () => {
  const { id } = await api.workspace();
  await api.call('POST', `workspaces/${id}/actions/lock`);
  const { text, ...state } = stateFile({ outputs: { large: { value: '\\'.repeat(1_600_000), type: 'string' } } });
  const uploaded = await api.post(`workspaces/${id}/state-versions`, {
    ...state,
    state: Buffer.from(text).toString('base64'),
  });
  expect(uploaded.status).toBe(201);
  const { status, body } = await api.get(`workspaces/${id}/current-state-version-outputs`);
  expect([status, body.errors[0].detail]).toEqual([400, expect.stringContaining('6 MB')]);
  expect((await api.get(`workspaces/${id}/current-state-version`)).status).toBe(200);
});
