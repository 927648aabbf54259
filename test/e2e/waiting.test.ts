import { expect, it } from 'vitest';
import { until } from './support/waiting.ts';
import { client, newWorkspace, platform, startRun, untilConfirmable } from './support/world.ts';

it('a failed wait for a run reports the run, its events, the condition and the end of the platform output', async () => {
  const run = await untilConfirmable(await startRun(await newWorkspace(), { 'main.tf': 'output "a" { value = 1 }' }));
  const wait = client.waitForRun(run.id, ({ attributes }) => attributes.status === 'applied', 10);
  await expect(wait).rejects.toThrow(
    new RegExp(
      `run ${run.id} is planned after \\d+ s\\nwaited for: .*=== "applied"[^]*last events:\\n.* created`.replaceAll(
        '"',
        '["\']',
      ),
    ),
  );
  if (platform.dataDir) await expect(wait).rejects.toThrow(/end of .*output\.txt:\n.*Ctrl-C stops it/s);
});

it('a wait for anything else reports its last answer and the condition', async () => {
  const wait = until(
    async () => 'red',
    (answer) => answer.startsWith('green'),
    10,
  );
  await expect(wait).rejects.toThrow(/not met after 10 ms: "red"\nwaited for: .*startsWith\(.green.\)/);
});

it('an error of the request itself ends a wait, and is passed on', async () => {
  await expect(client.waitForRun('run-0000000000000000', () => false, 60_000)).rejects.toThrow(/404|not found/i);
});
