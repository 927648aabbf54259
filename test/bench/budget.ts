import { setTimeout as sleep } from 'node:timers/promises';
import { packFiles } from '#clients/cli/archive.ts';
import { Client } from '#clients/client/client.ts';
import type { Step } from '#infra/local/aws/lambda/usage.ts';
import type { Local } from '#test/e2e/support/platform.ts';
import { type Figure, round, type Section, usageOf } from './figures.ts';

/** Maximum usage of a small auto-applied run without watchers. */
export const runBudget = { transitions: 7, lambdaRequests: 14, requestUnits: 68 };
/** The goal, which the budget does not meet yet. */
const unitsGoal = 60;

export const configuration = `resource "terraform_data" "a" { input = "a" }
resource "terraform_data" "b" { input = terraform_data.a.output }
output "b" { value = terraform_data.b.output }
`;

export const unitsOf = ({ units }: Pick<Step, 'units'>): number => (units.readUnits ?? 0) + (units.writeUnits ?? 0);

/** Also counts what happens after the end of the run's container. */
const settled = async (platform: Local, id: string) => {
  for (let before = ''; ; await sleep(2_000)) {
    const usage = await usageOf(platform, id);
    const now = JSON.stringify(usage.totals);
    if (now === before && (usage.totals.fargateVcpuHours ?? 0) > 0) return usage;
    before = now;
  }
};

/** A small auto-applied run in a new workspace, with everything that follows its end. */
export const measuredRun = async (platform: Local, name: string) => {
  const client = new Client(platform.url, platform.token);
  const workspace = await client.createWorkspace(platform.organization, name, { 'auto-apply': true });
  const version = await client.upload(workspace.id, await packFiles({ 'main.tf': configuration }));
  return settled(platform, (await client.createRun(workspace.id, {}, version.id)).id);
};

export const invocations = (steps: Step[]): Step[][] =>
  Object.values(Object.groupBy(steps, ({ trace }) => trace)).filter((one) => one !== undefined);

/** Key of a count, e.g. `Runner POST /runner/v1/claim` or `PlanQueued`. */
export const nameOf = (steps: Step[]): string => {
  const name = steps.find(({ service }) => service === 'lambda')?.action.replace(/Function$/, '') ?? 'unfinished';
  return [name, steps.find(({ service }) => service === 'apigateway')?.subject].filter(Boolean).join(' ');
};

const lineOf = ({ service, action, subject = '', units }: Step): string =>
  `      ${service} ${action} ${unitsOf({ units }) || ''} ${subject}`.slice(0, 200);

export const budget: Section = {
  about: 'an auto-applied run without watchers, call by call (with BENCH_CALLS=1 also what each calls)',
  needsPlatform: true,
  async *measure(platform): AsyncGenerator<Figure> {
    if (!platform) return;
    // A first run loads the modules and connects the clients.
    await measuredRun(platform, 'budget-before');
    const { steps, totals, price } = await measuredRun(platform, 'budget');
    for (const one of invocations(steps)) {
      yield {
        name: nameOf(one),
        value: round(
          one.map(unitsOf).reduce((a, b) => a + b, 0),
          1,
        ),
        unit: 'units',
      };
      const calls = one.filter(({ service }) => service !== 'lambda' && service !== 'apigateway');
      if (process.env.BENCH_CALLS) for (const call of calls) console.log(lineOf(call));
    }
    const { transitions, lambdaRequests } = runBudget;
    const units = (totals.readUnits ?? 0) + (totals.writeUnits ?? 0);
    const functions = new Set(steps.filter(({ service }) => service === 'lambda').map(({ action }) => action));
    yield { name: 'functions, each cold in a first run', value: functions.size, unit: '', atMost: 6 };
    yield { name: 'transitions', value: totals.transitions ?? 0, unit: '', atMost: transitions };
    yield { name: 'function calls', value: totals.lambdaRequests ?? 0, unit: '', atMost: lambdaRequests };
    yield { name: 'write units', value: totals.writeUnits ?? 0, unit: '' };
    yield { name: 'read units', value: totals.readUnits ?? 0, unit: '' };
    yield { name: 'request units of the table', value: units, unit: '', atMost: unitsGoal };
    yield {
      name: 'AWS list price without Fargate',
      value: round(price.usdWithoutFargate, 6),
      unit: 'USD',
      atMost: 0.00026,
    };
  },
};
