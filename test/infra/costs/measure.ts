import { setTimeout as sleep } from 'node:timers/promises';
import { packFiles } from '#clients/cli/archive.ts';
import { Client, until } from '#clients/client/client.ts';
import type { Billable } from '#infra/local/aws/pricing/prices.ts';
import { usageOf } from '#test/bench/figures.ts';
import { type Local, PlatformProcess } from '#test/e2e/support/platform.ts';

const configuration = 'resource "terraform_data" "a" { input = "a" }\noutput "a" { value = terraform_data.a.output }\n';

/** The sweep of the run's last states, after the runner's end, is counted too. */
const settledUsage = async (local: Local, id: string): Promise<Record<string, number>> => {
  for (let before = ''; ; await sleep(5_000)) {
    const { totals } = await usageOf(local, id);
    const now = JSON.stringify(totals);
    if (now === before) return totals;
    before = now;
  }
};

/** Counts of the local endpoint for a small auto-applied run without watchers. */
export const measureRun = async (): Promise<Billable> => {
  const platform = await PlatformProcess.start();
  try {
    const { local } = platform;
    const client = new Client(local.url, local.token);
    const workspace = await client.createWorkspace(local.organization, 'costs', { 'auto-apply': true });
    const version = await client.upload(workspace.id, await packFiles({ 'main.tf': configuration }));
    const { id } = await client.createRun(workspace.id, {}, version.id);
    // No polling of the run, because that would be counted as well: the runner's count appears after its end.
    await until(
      () => usageOf(local, id),
      ({ totals }) => (totals.fargateVcpuHours ?? 0) > 0,
      240_000,
    );
    return (await settledUsage(local, id)) as unknown as Billable;
  } finally {
    await platform.remove();
  }
};
