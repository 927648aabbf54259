import { createHash } from 'node:crypto';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Api, eventOf, startApi } from '../support/api.ts';
import { runHelpers } from '../support/runs.ts';

/** A small state comes with its announcement: stored, checked and current after one call. */

let api: Api;
let help: Awaited<ReturnType<typeof runHelpers>>;
let handler: (event: APIGatewayProxyEventV2) => Promise<{ statusCode?: number; body?: string }>;
let applying: () => Promise<{ workspace: string; token: string }>;
beforeAll(async () => {
  api = await startApi();
  help = await runHelpers(api);
  Object.assign(process.env, { HEARTBEAT_SECONDS: '5', HOLD_SECONDS: '120', TERRAFORM_ENGINE: 'terraform' });
  ({ handler } = await import('../../functions/callbacks/runner.ts'));
  const { claimPhase } = await import('../../functions/store/runs/phases.ts');
  const { hashSecret, newSecret } = await import('../../functions/store/id.ts');
  const { keys } = await import('../../functions/store/keys.ts');
  const { update } = await import('../../functions/store/table.ts');
  applying = async () => {
    const { id: workspace } = await help.ready();
    const { id } = await help.create(workspace);
    const secret = newSecret();
    await update(keys.workspace(workspace), { set: { lock: { kind: 'run', runId: id, at: '' } } });
    await help.bring(id, { status: 'apply_queued', 'apply.claimHash': hashSecret(secret) });
    const claimed = await claimPhase(`${id}.apply.${secret}`, 'nonce');
    if (!claimed) throw new Error('not claimed');
    return { workspace, token: claimed.token };
  };
});
afterAll(() => api.close());

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
const post = async (token: string, body: object) => {
  const answer = await handler(eventOf('POST', '/runner/v1/state-versions', { token, body }));
  return { status: answer.statusCode, body: JSON.parse(answer.body ?? '{}') };
};
const current = async (workspace: string) =>
  (await api.get(`workspaces/${workspace}/current-state-version?include=outputs`)).body;

it('is the workspace’s, with its outputs; said again, it is the same one', async () => {
  const { workspace, token } = await applying();
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

it('is refused when it is not what was announced, is older, or is no base64', async () => {
  const { workspace, token } = await applying();
  const kept = await post(token, announced(5, stateOf(5)));
  const other = await post(token, announced(6, stateOf(6), stateOf(6, 'other')));
  expect([other.status, other.body.error]).toEqual([409, expect.stringContaining('MD5')]);
  expect((await post(token, announced(4, stateOf(4)))).status).toBe(409);
  const broken = await post(token, { ...announced(7, stateOf(7)), content: '{"not": "base64"}' });
  expect([broken.status, broken.body.error]).toEqual([422, expect.stringContaining('content')]);
  expect((await current(workspace)).data.id).toBe(kept.body.id);
});
