import { dirname } from 'node:path';
import { expect, it } from 'vitest';
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

/** An attacker has seen the one-time secret of a runner. sign-in.test.ts has the codes of sign-ins. */

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
