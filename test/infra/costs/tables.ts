import { readFileSync } from 'node:fs';
import type { Template } from '#infra/build/synth.ts';
import { type Billable, priceOf, prices } from '#infra/local/aws/pricing/prices.ts';
import { idleCosts } from './idle.ts';

/**
 * The figures of infra/docs/costs.md: idle costs from the template, a run's costs from counts of the local endpoint.
 */

const beginning = '<!-- costs: written by `npm run costs` -->';
const end = '<!-- end of costs -->';

export const page = new URL('../../../infra/docs/costs.md', import.meta.url);
/** For a small run, as counted by `npm run costs -- --measure`. */
export const counts = new URL('./run.json', import.meta.url);

const row = (...cells: string[]): string => `| ${cells.join(' | ')} |`;
const table = (head: string[], rows: string[][]): string =>
  [row(...head), row(...head.map(() => '---')), ...rows.map((cells) => row(...cells))].join('\n');

const usd = (amount: number): string =>
  amount >= 0.01 || amount === 0 ? `$${amount.toFixed(2)}` : `$${amount.toPrecision(2)}`;
const sum = (amounts: number[]): number => amounts.reduce((total, amount) => total + amount, 0);

const idleTable = (template: Template): string => {
  const lines = idleCosts(template);
  const free = sum(lines.map(({ freeUsd = 0 }) => freeUsd));
  const total = sum(lines.map((line) => line.usd));
  const rows = lines.map(({ what, count, usd: amount }) => [what, count, usd(amount)]);
  return [
    table(['idle, a month', 'amount', 'list price'], [...rows, ['**total**', '', `**${usd(total)}**`]]),
    `An account’s standing free tier (ten alarm metrics, a million invocations, 20,000 requests to KMS) reduces this by ${usd(free)}.`,
  ].join('\n\n');
};

const names: [keyof Billable, string][] = [
  ['transitions', 'state transitions'],
  ['lambdaRequests', 'Lambda invocations'],
  ['readUnits', 'DynamoDB read units'],
  ['writeUnits', 'DynamoDB write units'],
  ['apiRequests', 'API requests'],
  ['s3Puts', 'S3 puts'],
  ['s3Gets', 'S3 gets'],
  ['kmsRequests', 'KMS requests'],
];

const runTable = (used: Billable): string => {
  const price = priceOf(used);
  const services = Object.entries(price.byService).filter(([service]) => service !== 'fargate');
  return [
    table(
      ['a small auto-applied run', 'count'],
      names.map(([name, what]) => [what, String(Number(used[name].toFixed(1)))]),
    ),
    `${usd(price.usdWithoutFargate)} at list prices (${services.map(([service, amount]) => `${service} ${usd(amount)}`).join(', ')}), plus its runner.`,
    `A runner of 1 vCPU and 2 GB costs ${usd(prices.fargateVcpuHour + 2 * prices.fargateGbHour)} an hour on arm64 and ${usd(x86Hour)} on x86_64, billed for at least a minute, plus $0.005 an hour for its public address.`,
  ].join('\n\n');
};

/** Linux on x86_64, us-east-1 (aws.amazon.com/fargate/pricing). */
const x86Hour = 0.04048 + 2 * 0.004445;

export const withCosts = (text: string, template: Template): string => {
  const used = JSON.parse(readFileSync(counts, 'utf8')) as Billable;
  const region = [
    beginning,
    `List prices of ${prices.region}, ${prices.asOf}.`,
    idleTable(template),
    runTable(used),
    end,
  ];
  const [before, rest] = text.split(beginning);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`costs.md has no "${beginning}" … "${end}"`);
  return before + region.join('\n\n') + after;
};
