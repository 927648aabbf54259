import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Campaign } from './campaign.ts';

/**
 * `npm run chaos -- [--minutes N] [--seed S]`: random runs over several workspaces while AWS calls, events, functions,
 * runners and the platform itself fail; then a quiet phase, and an audit of all invariants. Exits with 1, and prints
 * the seed, if one is violated.
 */
const { values } = parseArgs({ options: { minutes: { type: 'string' }, seed: { type: 'string' } } });
const number = (name: 'minutes' | 'seed', otherwise: number): number => {
  const value = values[name] === undefined ? otherwise : Number(values[name]);
  if (!(value >= 0)) throw new Error(`--${name} must be a number; it is ${values[name]}`);
  return value;
};
const minutes = number('minutes', 2);
const seed = number('seed', Math.floor(Math.random() * 1e6));

console.log(`seed ${seed}, ${minutes} minutes`);
const campaign = await Campaign.start(seed);
let failures: string[];
try {
  await campaign.rage(minutes * 60_000);
  failures = await campaign.settle();
} catch (error) {
  failures = [(error as Error).stack ?? String(error)];
}
console.log(campaign.tally.summary());
if (failures.length === 0) {
  await campaign.end();
  console.log('nothing was lost');
} else {
  console.error(`\n${failures.join('\n')}\n`);
  const kept = await mkdtemp(join(tmpdir(), `stepform-chaos-${seed}-`));
  await campaign.end(kept);
  console.error(`${failures.length} found. What there is of it: ${campaign.folder} or ${kept}, and ${campaign.ledger}`);
  console.error(`The same again: npm run chaos -- --minutes ${minutes} --seed ${seed}`);
  process.exitCode = 1;
}
// The callers of late run task callbacks are gone by then.
process.exit();
