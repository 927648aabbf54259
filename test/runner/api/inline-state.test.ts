import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startRunnerApi } from '#test/support/runner-api.ts';

/** A small state that is part of its announcement: stored, checked and current after one call. */

let runner: Awaited<ReturnType<typeof startRunnerApi>>;
beforeAll(async () => {
  runner = await startRunnerApi();
});
afterAll(() => runner.close());

const stateOf = (serial: number, value = 'a') =>
  JSON.stringify({
    version: 4,
    terraform_version: '1.11.4',
    serial,
    lineage: 'l',
    outputs: { o: { value, type: 'string' } },
    resources: [],
  });
const announced = (serial: number, state: string, content = state) => ({
  serial,
  lineage: 'l',
  md5: createHash('md5').update(state).digest('hex'),
  size: state.length,
  intermediate: false,
  content: Buffer.from(content).toString('base64'),
});
const post = (token: string, body: object) => runner.call(token, 'state-versions', body);
const current = async (workspace: string) =>
  (await runner.api.get(`workspaces/${workspace}/current-state-version?include=outputs`)).body;

it("a state in a request becomes the workspace's current state with its outputs; a repeated request returns the same one", async () => {
  const { workspace, token } = await runner.claim('apply');
  const first = await post(token, announced(1, stateOf(1)));
  expect(first).toEqual({ status: 200, body: { id: expect.any(String), uploadUrl: null, complete: true } });
  const { data, included } = await current(workspace);
  expect([data.id, data.attributes.serial, data.attributes.status]).toEqual([first.body.id, 1, 'finalized']);
  expect(included[0].attributes).toMatchObject({ name: 'o', value: 'a' });
  const again = await post(token, announced(1, stateOf(1)));
  expect(again).toEqual({ status: 200, body: { id: first.body.id, uploadUrl: null } });
  expect((await post(token, announced(2, stateOf(2, 'b')))).body.complete).toBe(true);
  expect((await current(workspace)).data.attributes.serial).toBe(2);
});

it('a state in a request is rejected when it differs from the announced content, is older, or is not base64', async () => {
  const { workspace, token } = await runner.claim('apply');
  const kept = await post(token, announced(5, stateOf(5)));
  const other = await post(token, announced(6, stateOf(6), stateOf(6, 'other')));
  expect([other.status, other.body.error]).toEqual([409, expect.stringContaining('MD5')]);
  expect((await post(token, announced(4, stateOf(4)))).status).toBe(409);
  const broken = await post(token, { ...announced(7, stateOf(7)), content: '{"not": "base64"}' });
  expect([broken.status, broken.body.error]).toEqual([422, expect.stringContaining('content')]);
  expect((await current(workspace)).data.id).toBe(kept.body.id);
});
