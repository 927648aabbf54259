import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claimsIn } from '#test/e2e/support/memory.ts';
import { runners } from '#test/e2e/support/runners.ts';
import { until } from '#test/e2e/support/waiting.ts';
import {
  client,
  newWorkspace,
  platform,
  resources,
  startRun,
  untilConfirmable,
  untilFinal,
} from '#test/e2e/support/world.ts';
import { Scene } from './support.ts';

/** An attacker has seen a one-time secret. */

describe('the code of a sign-in', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await Scene.open();
  });
  afterAll(() => scene.close());

  const account = (sub: string) => ({ sub, email: `${sub}@example.test`, email_verified: true });
  const refused = { status: 400, body: { error: 'invalid_grant' } };

  it('is exchanged once', async () => {
    const { code, verifier } = await scene.code(account('once'));
    expect((await scene.redeem(code, verifier)).status).toBe(200);
    expect(await scene.redeem(code, verifier)).toMatchObject(refused);
  });

  it('is exchanged once by ten concurrent requests', async () => {
    const { code, verifier } = await scene.code(account('race'));
    const answers = await Promise.all(Array.from({ length: 10 }, () => scene.redeem(code, verifier)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it('is rejected without its verifier and consumed by a wrong guess', async () => {
    const { code, verifier } = await scene.code(account('guessed'));
    expect(await scene.redeem(code, 'A'.repeat(43))).toMatchObject(refused);
    expect(await scene.redeem(code, verifier)).toMatchObject(refused);
  });

  it('is not exchanged for another kind of token', async () => {
    const { code, verifier } = await scene.code(account('elsewhere'));
    const answer = await scene.redeem(code, verifier, { redirectUri: 'http://localhost:10000/login' });
    expect(answer).toMatchObject(refused);
  });

  it('is not issued for a callback in another browser', async () => {
    const { url } = scene.platform.local;
    scene.issuer.account = account('victim');
    const parameters = { client_id: 'page', code_challenge: 'A'.repeat(43), code_challenge_method: 'S256' };
    const begun = await fetch(`${url}/oauth/sign-in?${new URLSearchParams(parameters)}`, { redirect: 'manual' });
    const back = await scene.issuer.visit(begun.headers.get('location') ?? '');
    const came = await fetch(back, { redirect: 'manual' });
    await came.arrayBuffer();
    expect(came.headers.get('location') ?? '').not.toMatch(/[#?&]code=/);
  });
});

const isRoot = process.platform === 'linux' && process.getuid?.() === 0;

it.runIf(isRoot && platform.caFile)('the claim of a runner is accepted once', async () => {
  const dataDir = dirname(dirname(platform.caFile as string));
  const run = await startRun(await newWorkspace(), { 'main.tf': resources(['a'], 2) });
  const claimOf = () => {
    const runner = runners(dataDir).find(({ startedBy }) => startedBy === run.id);
    return runner && claimsIn(runner.process.pid).find((claim) => claim.startsWith(run.id));
  };
  const claim = await until(async () => claimOf(), Boolean);
  const take = async () => {
    const answer = await fetch(`${platform.url}/runner/v1/claim`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ claim, nonce: 'stolen' }),
    });
    return { status: answer.status, text: await answer.text() };
  };
  await untilConfirmable(run);
  const inTime = await take();
  await client.act(run.id, 'apply');
  expect((await untilFinal(run)).attributes.status).toBe('applied');
  for (const { status, text } of [inTime, await take()]) {
    expect(status).toBe(410);
    expect(text).not.toMatch(/sft_|X-Amz|token/);
  }
});
