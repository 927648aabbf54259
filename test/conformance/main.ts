import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Description, type Findings } from './description.ts';
import { known } from './known.ts';
import type { Recorded } from './record.ts';

/**
 * Holds every JSON answer that the tests of the API and the end-to-end tests get against the vendor's own description of
 * the API, and lists what differs. The description is not part of this project: it is looked for beside the checkout, or
 * where OPENAPI says.
 *
 * `npm run conformance` runs the tests first; `-- recorded` looks at what the last run collected; other words go to vitest
 * as filters of test files.
 */

const root = fileURLToPath(new URL('../..', import.meta.url));
const file = process.env.OPENAPI || `${root}../shared/spec/hcp-terraform-openapi.json`;
const recording = `${root}.build/conformance.jsonl`;
const words = process.argv.slice(2);
const filters = words.filter((word) => word !== 'recorded');

const collect = (): number => {
  mkdirSync(`${root}.build`, { recursive: true });
  rmSync(recording, { force: true });
  const tests = filters.length ? filters : ['test/api', 'test/e2e'];
  const { status } = spawnSync(
    process.execPath,
    [`${root}node_modules/vitest/vitest.mjs`, 'run', '--config', 'test/vitest.config.ts', ...tests],
    { cwd: root, stdio: 'inherit', env: { ...process.env, STEPFORM_RECORD: recording } },
  );
  return status ?? 1;
};

function* recorded(): Generator<Recorded> {
  for (const line of readFileSync(recording, 'utf8').split('\n')) if (line) yield JSON.parse(line) as Recorded;
}

/** `*` stands for anything. */
const fits = (pattern: string, difference: string): boolean => {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(difference);
};

const explanationOf = (difference: string): string | undefined =>
  known.find(([pattern]) => fits(pattern, difference))?.[1];

const report = ({ differences, checked, operations }: Findings): number => {
  console.log(`${checked} answers of ${operations.size} described operations\n`);
  const all = [...differences].sort(([a], [b]) => (a < b ? -1 : 1));
  const explained = all.filter(([difference]) => explanationOf(difference));
  for (const [difference] of explained) console.log(`${difference}\n    ${explanationOf(difference)}`);
  const open = all.filter(([difference]) => !explanationOf(difference));
  if (open.length === 0) {
    console.log(`\n${explained.length} differences, each explained`);
    return 0;
  }
  console.log('\nnot explained (test/conformance/known.ts):');
  for (const [difference, { example, times }] of open)
    console.log(`${difference}\n    ${times} times, as in ${example}`);
  return 1;
};

const main = (): number => {
  if (!existsSync(file)) {
    console.log(`The vendor's description is not there (${file}), so there is nothing to hold answers against.`);
    return 0;
  }
  const failed = words.includes('recorded') ? 0 : collect();
  return report(new Description(file).check(recorded())) || failed;
};

process.exitCode = main();
