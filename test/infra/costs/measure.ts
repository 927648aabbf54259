import { setTimeout as sleep } from 'node:timers/promises';
import { packFiles } from '../../../functions/cli/archive.ts';
import { Client, isFinalRun, until } from '../../../functions/client/client.ts';
import type { Billable } from '../../../infra/local/prices.ts';
import { usageOf } from '../../bench/figures.ts';
import { PlatformProcess } from '../../e2e/support/platform.ts';

const configuration = 'resource "terraform_data" "a" { input = "a" }\noutput "a" { value = terraform_data.a.output }\n';

/** What the local endpoint counts for a small auto-applied run that nobody watches. */
export const measureRun = async (): Promise<Billable> => {
  const platform = await PlatformProcess.start();
  try {
    const { local } = platform;
    const client = new Client(local.url, local.token);
    const workspace = await client.createWorkspace(local.organization, 'costs', { 'auto-apply': true });
    const version = await client.upload(workspace.id, await packFiles({ 'main.tf': configuration }));
    const { id } = await client.createRun(workspace.id, {}, version.id);
    // Whoever asks is counted as well.
    for (let n = 0; n < 30 && !isFinalRun(await client.run(id)); n++) await sleep(4_000);
    const { totals } = await until(
      () => usageOf(local, id),
      (used) => (used.totals.fargateVcpuHours ?? 0) > 0,
      60_000,
    );
    return totals as unknown as Billable;
  } finally {
    await platform.remove();
  }
};
