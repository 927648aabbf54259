import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { provideOpa } from '#infra/local/commands/opa.ts';
import { differences, type Result, summaryOf, unexpectedFailures, unknownNames } from './results.ts';
import { SuitePlatform } from './suite-platform.ts';
import { SuiteProgram } from './suite-program.ts';
import { type Suite, suites } from './suites.ts';
import { isAtHand, newestClient, provideClient, runTerraformTests } from './terraform.ts';

/**
 * `npm run clients`: other people's clients against the platform. Without names, all of them:
 *
 * - `-- terraform` builds older and newer Terraform and OpenTofu, and runs the tests that need them
 * - `-- go-tfe` and `-- provider` run the test suites of go-tfe and of the provider `tfe` against a platform started for
 *   it, and compare the results with the lists in `expected/`
 * - `-- quick` runs some tests of the suites that are built already
 * - `--run=REGEX` selects tests of the suites; their differences are shown, without a verdict on the others
 *
 * Modules come from the Go module proxy. Results are in `.build/clients`.
 */

const root = resolve(import.meta.dirname, '../..');
const folder = `${root}/.build/clients`;

const select = ({ quick }: Suite, tests: string[], words: string[]): string[] => {
  const [, pattern] = words.map((word) => /^--run=(.+)$/.exec(word)).find(Boolean) ?? [];
  const chosen = pattern === undefined ? undefined : new RegExp(pattern);
  return tests.filter((name) => (chosen ?? (words.includes('quick') ? quick : /./)).test(name));
};

/** Failed tests once more, one at a time: others may have interfered. */
const withSecondTries = async (
  suite: Suite,
  results: Map<string, Result>,
  again: (names: string[]) => Promise<Map<string, Result>>,
): Promise<Map<string, Result>> => {
  const names = unexpectedFailures(results, suite.expected);
  if (names.length === 0) return results;
  console.log(`${suite.name}: once more, because they failed: ${names.join(', ')}`);
  return new Map([...results, ...(await again(names))]);
};

/** @returns false if a short check would have to build something */
const provide = async (suite: Suite, program: SuiteProgram, isQuick: boolean): Promise<boolean> => {
  const isComplete = program.isAtHand && (!suite.usesTerraform || isAtHand(newestClient));
  if (isQuick) return isComplete;
  // Without it, policies that do not compile are accepted.
  await provideOpa(console.log);
  if (suite.usesTerraform) await provideClient(newestClient);
  if (!program.isAtHand) {
    console.log(`building ${suite.name} ${suite.version} …`);
    await program.build();
  }
  return true;
};

/** @returns whether the results are as expected */
const runSuite = async (suite: Suite, words: string[]): Promise<boolean> => {
  const program = new SuiteProgram(suite);
  if (!(await provide(suite, program, words.includes('quick')))) {
    console.log(`SKIPPED: tests of ${suite.name}: "npm run clients -- ${suite.name}" builds them`);
    return true;
  }
  const tests = await program.tests();
  const names = select(suite, tests, words);
  const began = Date.now();
  const platform = await SuitePlatform.start(folder, suite.name);
  try {
    const env = await platform.environment();
    const first = await program.run(names, env);
    const results = await withSecondTries(suite, first, (again) =>
      program.run(again, env, { processes: 1, parallel: 1 }),
    );
    const lines = [
      ...differences(names, results, suite.expected),
      ...unknownNames(tests, suite.expected).map(
        (name) => `${name} is in the list of ${suite.name}, which has no such test`,
      ),
      ...platform.serverErrors(),
    ];
    writeFileSync(`${folder}/${suite.name}.json`, JSON.stringify(Object.fromEntries(results), undefined, 2));
    for (const line of lines) console.log(`${line}\n`);
    const seconds = Math.round((Date.now() - began) / 1000);
    console.log(
      `${suite.name} ${suite.version}: ${summaryOf(names, results, suite.expected)}, in ${seconds} s; ${lines.length} differences`,
    );
    return lines.length === 0;
  } finally {
    await platform.remove();
  }
};

const main = async (words: string[]): Promise<boolean> => {
  if (spawnSync('go', ['version']).status !== 0) {
    console.log('SKIPPED: clients of HCP Terraform: there is no Go to build them with');
    return true;
  }
  mkdirSync(folder, { recursive: true });
  const known = [...suites.map(({ name }) => name), 'terraform'];
  const named = words.filter((word) => known.includes(word));
  const unknown = words.filter((word) => !(known.includes(word) || word === 'quick' || word.startsWith('--run=')));
  if (unknown.length > 0)
    throw new Error(`${unknown.join(' ')}: unknown; use ${known.join(', ')}, quick or --run=REGEX`);
  const isWanted = (name: string) => named.length === 0 || named.includes(name);
  let isAsExpected = true;
  for (const suite of suites) if (isWanted(suite.name) && !(await runSuite(suite, words))) isAsExpected = false;
  if (isWanted('terraform') && !words.includes('quick') && !(await runTerraformTests(root))) isAsExpected = false;
  return isAsExpected;
};

process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1;
