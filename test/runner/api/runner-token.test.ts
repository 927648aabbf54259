import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Run } from '#run/run.ts';
import { startRunnerApi } from '#test/support/runner-api.ts';

/** A runner's token is valid for its run and phase, and expires with them. */

let runner: Awaited<ReturnType<typeof startRunnerApi>>;
beforeAll(async () => {
  runner = await startRunnerApi();
});
afterAll(() => runner.close());

const claim = () => runner.claim('plan');

const bodies: Record<string, object> = {
  'log?offset=0': {},
  heartbeat: {},
  uploads: { artifacts: ['plan-json'] },
  'state-versions': {},
  'errored-state': {},
  report: { outcome: 'finished', hasChanges: true, artifacts: {} },
};

const statusOf = async (token: string, call: string): Promise<number | undefined> =>
  (await runner.call(token, call, bodies[call])).status;

const dead = async (token: string): Promise<string[]> => {
  const refused = [];
  for (const call of Object.keys(bodies)) if ((await statusOf(token, call)) === 410) refused.push(call);
  return refused;
};

it('after its phase was reported, a runner token allows only repeating the report', async () => {
  const { run, token } = await claim();
  expect(await statusOf(token, 'uploads')).toBe(200);
  expect(await statusOf(token, 'heartbeat')).toBe(200);
  expect(await statusOf(token, 'report')).toBe(200);
  expect(await dead(token)).toEqual(['log?offset=0', 'heartbeat', 'uploads', 'state-versions', 'errored-state']);
  const { plan } = (await runner.help.store.getRun(run)) as Run;
  expect(plan.report).toMatchObject({ outcome: 'finished' });
});

it('a runner token is rejected after its run has ended', async () => {
  const { run, token } = await claim();
  const { finishRun } = await import('#lifecycle/phases/finish.ts');
  await finishRun(run, 'Canceled');
  expect(await dead(token)).toEqual(Object.keys(bodies));
});

it('a runner token is valid for its run and phase only, and stored as a hash', async () => {
  const [one, two] = [await claim(), await claim()];
  const secret = one.token.slice(-43);
  for (const wrong of [`${two.token.slice(0, -43)}${secret}`, one.token.replace('.plan.', '.apply.')]) {
    expect(await statusOf(wrong, 'heartbeat')).toBe(410);
  }
  for (const wrong of ['', 'garbage', runner.api.token]) expect(await statusOf(wrong, 'heartbeat')).toBe(401);
  expect(JSON.stringify(await runner.help.store.getRun(one.run))).not.toContain(secret);
});

it("Terraform's token reads shared states during its phase, and is no runner token", async () => {
  const { run, token } = await claim();
  const { findRunOfStateToken, stateTokenOf } = await import('#resources/runs/state-tokens.ts');
  const stateToken = stateTokenOf(run, 'plan', token);
  const secret = stateToken.slice(-43);
  expect((await findRunOfStateToken(stateToken))?.id).toBe(run);
  expect(await findRunOfStateToken(stateToken.replace(secret, token.slice(-43)))).toBeUndefined();
  expect(await statusOf(`${token.slice(0, -43)}${secret}`, 'heartbeat')).toBe(410);
  expect(await statusOf(stateToken, 'heartbeat')).toBe(401);
  expect(await statusOf(token, 'report')).toBe(200);
  expect(await findRunOfStateToken(stateToken)).toBeUndefined();
});

it('a runner gets a new URL for the errored state in the response to a heartbeat, on request', async () => {
  const [planning, applying] = [await claim(), await runner.claim('apply')];
  const asked = 'heartbeat?renew=errored-state';
  expect((await runner.call(planning.token, asked)).body).toEqual({ signal: 'continue' });
  expect((await runner.call(applying.token, 'heartbeat')).body).toEqual({ signal: 'continue' });
  const { erroredStateUrl } = (await runner.call(applying.token, asked)).body;
  const { uploadUrl } = (await runner.call(applying.token, 'errored-state')).body;
  expect(new URL(erroredStateUrl).pathname).toBe(new URL(uploadUrl).pathname);
});

it('a runner token is rejected after its run has ended, despite stale reads', async () => {
  const { run, token } = await claim();
  runner.api.aws.stale = true;
  const { finishRun } = await import('#lifecycle/phases/finish.ts');
  await finishRun(run, 'Canceled');
  const refused = await runner.call(token, 'report', bodies.report);
  runner.api.aws.stale = false;
  expect(refused).toEqual({ status: 410, body: { error: expect.stringContaining('token revoked') } });
  expect((await runner.help.store.getRun(run))?.plan.report).toBeUndefined();
});
