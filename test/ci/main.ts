import { rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isProven, type Part, Parts, type Result, tableOf } from './parts.ts';
import { tryAgain } from './second-tries.ts';
import { countTests } from './test-report.ts';

/**
 * `npm run ci`: all checks of a submission, in independent parts, and a table of passed, failed and skipped ones. A
 * part whose tools are missing is skipped with the reason; with STEPFORM_CI_STRICT=1 that is a failure. Output, results
 * and durations are in .build/ci.
 */

const root = resolve(import.meta.dirname, '../..');
const folder = join(root, '.build/ci');
const report = (name: string): string => join(folder, `${name.replaceAll(/\W+/g, '-')}.json`);
const strict = process.env.STEPFORM_CI_STRICT === '1';
const changedFilesAlone = 15;
/** Lines of a failed part that are repeated at the end. */
const endLines = 40;

const npm = (...args: string[]): [string, ...string[]] => ['npm', 'run', '--silent', ...args];

rmSync(folder, { recursive: true, force: true });
const parts = new Parts(folder, root);
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    parts.end();
    process.exit(1);
  });

interface Tests extends Pick<Part, 'name' | 'live'> {
  command: [string, ...string[]];
  /** Runs the files that are its last arguments; `command` by default. */
  again?: [string, ...string[]];
}

/** Begun parts that run tests: each may have a second try at the end. */
const tests: (Tests & { result: Result })[] = [];

const runTests = async (part: Tests): Promise<void> => {
  const result = await parts.run({ ...part, env: { STEPFORM_TEST_REPORT: report(part.name) } });
  tests.push({ ...part, result });
};

const secondReport = (name: string): string => report(`${name}, second try`);

/** Sequential, beside the tests, which wait for other processes for a third of their time. */
const runBeside = async (): Promise<void> => {
  // Checks the template with CloudFormation's schemas, and deploys it with `cdk deploy` to an emulator of AWS; both
  // need Python.
  await parts.run({ name: 'template', command: npm('lint:template') });
  await parts.run({ name: 'images', command: npm('lint:images') });
  await parts.run({ name: 'deployment', command: npm('e2e:elsewhere') });
  // A part of go-tfe's test suite, where it was built.
  await parts.run({ name: 'clients', command: npm('clients', '--', 'go-tfe', 'quick') });
  // Runs while calls, runners and the platform fail, then an audit.
  await parts.run({ name: 'chaos', command: npm('chaos', '--', '--minutes', '1', '--seed', '20') });
  // Runs pass an upgrade from the last release, or from the commit before if there is none.
  await parts.run({ name: 'upgrade', command: npm('upgrade') });
  await runTests({
    name: 'changed files alone',
    command: npm('test:alone', '--', '--limit', String(changedFilesAlone)),
    again: npm('test:alone', '--'),
  });
};

const runAll = async (): Promise<void> => {
  // coder and Gitea, unmodified, for tests: built with Go unless the cache has them, at the lowest priority.
  const builds = parts.run({ name: 'builds', command: npm('from-source', '--', 'build') });
  // The policy engine: from the PATH, from the cache, downloaded, or built with Go in a few minutes.
  await parts.run({ name: 'opa', command: npm('opa') });
  const check = await parts.run({ name: 'lint, types and unused code', command: npm('check'), live: true });
  if (check.outcome === 'failed') {
    parts.end();
    await builds;
    for (const name of [
      'template',
      'images',
      'deployment',
      'clients',
      'chaos',
      'upgrade',
      'changed files alone',
      'tests',
    ])
      parts.skip(name, 'not begun: lint, types or unused code failed');
    return;
  }
  const beside = runBeside();
  await runTests({ name: 'tests', command: npm('test:only', '--'), live: true });
  await Promise.all([beside, builds]);
  await runTests({
    name: 'tests with what was built',
    command: npm('from-source', '--', 'test'),
    again: npm('test:only', '--'),
  });
  for (const { name, command, again = command, result } of tests)
    await tryAgain(parts, result, { command: again, reports: [report(name), secondReport(name)], root });
};

await runAll();
const counted = ['tests', 'tests with what was built'].flatMap((name) => [report(name), secondReport(name)]);
const { passed, failed, skipped, skippedIn, failedIn } = countTests(counted, root);
writeFileSync(
  report('parts'),
  JSON.stringify(
    parts.results.map(({ output, ...rest }) => rest),
    undefined,
    2,
  ),
);
const proven = isProven(parts.results, strict);
console.log(`\n${tableOf(parts.results)}`);
for (const [file, count] of skippedIn) console.log(`${count} skipped in ${file}`);
if (strict && !proven)
  console.log('STEPFORM_CI_STRICT=1: each part must pass, and everything listed as "not proven" must be provided.');
// The end of this output is what a hosted CI shows first.
for (const { name, outcome, output, firstFailures } of parts.results) {
  if (outcome === 'failed')
    console.log(`\nend of "${name}":\n${output.trimEnd().split('\n').slice(-endLines).join('\n')}`);
  for (const failure of firstFailures ?? []) console.log(`\npassed at the second try only: ${failure}`);
}
for (const failure of [...failedIn.values()].flat()) console.log(`\nfailed: ${failure}`);
console.log(`\n${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exitCode = proven ? 0 : 1;
