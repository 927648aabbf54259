import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Run } from '../../functions/run/run.ts';
import { type Api, eventOf, startApi } from '../support/api.ts';
import { runHelpers } from '../support/runs.ts';

/** The token of a runner is good for its run and phase, and dies with them. */

let api: Api;
let help: Awaited<ReturnType<typeof runHelpers>>;
let handler: (event: APIGatewayProxyEventV2) => Promise<{ statusCode?: number; body?: string }>;
let claim: () => Promise<{ run: string; token: string }>;
beforeAll(async () => {
  api = await startApi();
  help = await runHelpers(api);
  Object.assign(process.env, { HEARTBEAT_SECONDS: '5', HOLD_SECONDS: '120', TERRAFORM_ENGINE: 'terraform' });
  ({ handler } = await import('../../functions/callbacks/runner.ts'));
  const { claimPhase } = await import('../../functions/store/runs/phases.ts');
  const { hashSecret, newSecret } = await import('../../functions/store/id.ts');
  claim = async () => {
    const { id: workspace } = await api.workspace();
    await api.configuration(workspace);
    const { id } = await help.create(workspace);
    const secret = newSecret();
    await help.bring(id, { status: 'plan_queued', 'plan.claimHash': hashSecret(secret) });
    const claimed = await claimPhase(`${id}.plan.${secret}`, 'nonce');
    if (!claimed) throw new Error('not claimed');
    return { run: id, token: claimed.token };
  };
});
afterAll(() => api.close());

const bodies: Record<string, object> = {
  'log?offset=0': {},
  heartbeat: {},
  uploads: { artifacts: ['plan-json'] },
  'state-versions': {},
  'errored-state': {},
  next: {},
  report: { outcome: 'finished', hasChanges: true, artifacts: [], timings: {} },
};

const statusOf = async (token: string, call: string): Promise<number | undefined> => {
  const event = eventOf('POST', `/runner/v1/${call}`, { token, body: bodies[call] });
  return (await handler(event)).statusCode;
};

const dead = async (token: string): Promise<string[]> => {
  const refused = [];
  for (const call of Object.keys(bodies)) if ((await statusOf(token, call)) === 410) refused.push(call);
  return refused;
};

it('is good for nothing once its phase has been reported, but to say it again and to ask what is next', async () => {
  const { run, token } = await claim();
  expect(await statusOf(token, 'uploads')).toBe(200);
  expect(await statusOf(token, 'heartbeat')).toBe(200);
  expect(await statusOf(token, 'report')).toBe(200);
  expect(await dead(token)).toEqual(['log?offset=0', 'heartbeat', 'uploads', 'state-versions', 'errored-state']);
  const { plan } = (await help.store.getRun(run)) as Run;
  expect(plan.report).toMatchObject({ outcome: 'finished' });
});

it('is good for nothing at all once its run is over', async () => {
  const { run, token } = await claim();
  const { finishRun } = await import('../../functions/store/runs/finish.ts');
  await finishRun(run, 'Canceled');
  expect(await dead(token)).toEqual(Object.keys(bodies));
});

it('is of its run and phase only, and kept as its hash', async () => {
  const [one, two] = [await claim(), await claim()];
  const secret = one.token.slice(-43);
  for (const wrong of [`${two.token.slice(0, -43)}${secret}`, one.token.replace('.plan.', '.apply.')]) {
    expect(await statusOf(wrong, 'heartbeat')).toBe(410);
  }
  for (const wrong of ['', 'garbage', api.token]) expect(await statusOf(wrong, 'heartbeat')).toBe(401);
  expect(JSON.stringify(await help.store.getRun(one.run))).not.toContain(secret);
});
