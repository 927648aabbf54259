import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { runners, send } from '#test/e2e/support/runners.ts';
import { until } from '#test/e2e/support/waiting.ts';
import { newWorkspace, platform, resources, startRun, untilFinal, untilStatus } from '#test/e2e/support/world.ts';

/**
 * Any process of the runner's own user can send this signal, so Terraform's processes can where Terraform has no user
 * of its own.
 */
it.runIf(platform.caFile)("SIGUSR1 does not open the runner's inspector, and the run continues", async () => {
  const dataDir = dirname(dirname(platform.caFile as string));
  const run = await startRun(await newWorkspace({ 'auto-apply': true }), { 'main.tf': resources(['a'], 2) });
  await untilStatus(run, 'applying');
  const [runner] = await until(
    async () => runners(dataDir).filter(({ startedBy }) => startedBy === run.id),
    (value) => value.length > 0,
    30_000,
  );
  if (!runner) throw new Error('no runner');
  send(runner, 'SIGUSR1', 'process');
  expect((await untilFinal(run)).attributes.status).toBe('applied');
  const log = join(dataDir, 'logs', `runner-${runner.arn.split('/').at(-1)}.log`);
  expect(readFileSync(log, 'utf8')).not.toMatch(/debugger|inspector/i);
});
