import { expect, it } from 'vitest';
import { json } from '#api/answer.ts';
import { checkSize, isTooLarge, readWithin } from '#api/response-size.ts';
import { startApi } from '#test/support/api.ts';
import { stateFile } from '#test/support/state.ts';

const api = await startApi();

/** @returns the id of the workspace's new state version */
const withOutputs = async (workspaceId: string, values: Record<string, string>): Promise<string> => {
  await api.call('POST', `workspaces/${workspaceId}/actions/lock`);
  const outputs = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value, type: 'string' }]));
  const { text, ...state } = stateFile({ outputs });
  const uploaded = await api.post(`workspaces/${workspaceId}/state-versions`, {
    ...state,
    state: Buffer.from(text).toString('base64'),
  });
  expect(uploaded.status).toBe(201);
  return uploaded.body.data.id;
};

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
  const state = await withOutputs(id, { large: '\\'.repeat(1_600_000) });
  const [output] = (await api.get(`workspaces/${id}/current-state-version-outputs`)).body.data;
  for (const path of [`state-version-outputs/${output.id}`, `state-versions/${state}?include=outputs`]) {
    const { status, body } = await api.get(path);
    expect([status, body.errors[0].detail]).toEqual([400, expect.stringContaining('6 MB')]);
  }
  expect((await api.get(`workspaces/${id}/current-state-version`)).status).toBe(200);
});

it('a list of outputs leaves out only values that do not fit, with their sizes', async () => {
  const { id } = await api.workspace();
  const state = await withOutputs(id, { a: 'x', big: '\\'.repeat(700_000), large: '\\'.repeat(900_000), z: 'y' });
  for (const path of [`workspaces/${id}/current-state-version-outputs`, `state-versions/${state}/outputs`]) {
    const { status, body } = await api.get(path);
    expect(status).toBe(200);
    const listed = body.data.map(({ attributes }: { attributes: Record<string, string> }) => [
      attributes.name,
      attributes.value?.length ?? null,
      attributes['detailed-type'],
      attributes['omitted-bytes'],
    ]);
    expect(listed).toEqual([
      ['a', 1, 'string', undefined],
      ['big', 700_000, 'string', undefined],
      ['large', null, null, 3_600_004],
      ['z', 1, 'string', undefined],
    ]);
    const { attributes } = (await api.get(`state-version-outputs/${body.data[2].id}`)).body.data;
    expect([attributes.value.length, attributes['detailed-type']]).toEqual([900_000, 'string']);
  }
});
