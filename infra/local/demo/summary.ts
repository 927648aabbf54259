import { type Client, type Resource, until } from '#clients/client/client.ts';
import type { Local } from '#infra/local/host/folder.ts';
import { operatorFetch } from '#infra/local/host/operator-client.ts';
import { bold, dim, heading, seconds } from './print.ts';

export const showOutputs = async (client: Client, workspaceId: string): Promise<void> => {
  heading('Outputs');
  for (const { attributes } of await client.list(`/workspaces/${workspaceId}/current-state-version-outputs`)) {
    console.log(
      `  ${attributes.name} = ${attributes.sensitive ? dim('(sensitive)') : JSON.stringify(attributes.value)}`,
    );
  }
};

/** Stages with the statuses that begin and end them. */
const stages: [string, string, string][] = [
  ['waiting in the queue', 'plan-queueable-at', 'plan-queued-at'],
  ['starting the runner', 'plan-queued-at', 'planning-at'],
  ['init and plan', 'planning-at', 'planned-at'],
  ['waiting for confirmation', 'planned-at', 'confirmed-at'],
  ['handing over to apply', 'confirmed-at', 'applying-at'],
  ['apply', 'applying-at', 'applied-at'],
];

export const showTimes = async (client: Client, run: Resource): Promise<void> => {
  heading('Where the time went');
  const at = (await client.run(run.id)).attributes['status-timestamps'];
  const ms = (key: keyof typeof at) => Date.parse(at[key] ?? '');
  const total = ms('applied-at') - ms('plan-queueable-at');
  for (const [name, from, to] of stages) {
    const took = ms(to) - ms(from);
    if (Number.isNaN(took)) continue;
    console.log(
      `  ${name.padEnd(26)}${seconds(took).padStart(8)}  ${dim('█'.repeat(Math.max(0, Math.round((took / total) * 40))))}`,
    );
  }
  console.log(bold(`  ${'created to applied'.padEnd(26)}${seconds(total).padStart(8)}`));
};

interface Usage {
  totals: Record<string, number>;
  price: { usd: number; usdWithoutFargate: number; asOf: string; region: string };
}

/** The cost of the same calls on AWS, counted by the local endpoint, at list prices. */
export const showCost = async (local: Local, runId: string): Promise<void> => {
  const usage = async () => (await (await operatorFetch(local, `/_usage?run=${runId}`)).json()) as Usage;
  // The runner's cost is known when it exits, a moment after the end of the run.
  await until(usage, ({ totals }) => (totals.fargateVcpuHours ?? 0) > 0, 10_000).catch(() => {});
  const { totals, price } = await usage();
  heading('What it would have cost on AWS');
  const count = (key: string) => Math.round(totals[key] ?? 0);
  console.log(
    `  ${count('transitions')} state transitions · ${count('lambdaRequests')} Lambda invocations · ${count('readUnits')} read and ${count('writeUnits')} write units · ` +
      `${count('s3Puts')} S3 puts and ${count('s3Gets')} gets · ${count('apiRequests')} API requests · ${count('kmsRequests')} KMS requests`,
  );
  console.log(
    `  ${bold(`$${price.usdWithoutFargate.toFixed(5)}`)} and $${(price.usd - price.usdWithoutFargate).toFixed(5)} for the runner on Fargate ${dim(`(list prices of ${price.asOf}, ${price.region})`)}`,
  );
};
