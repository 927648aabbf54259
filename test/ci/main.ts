import { rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isProven, Parts, tableOf } from './parts.ts';
import { countTests } from './test-report.ts';

/**
 * `npm run ci`: everything that a submission must pass, in parts whose failures do not end each other, and a table of what
 * passed, failed and was skipped. Where something is not on the machine, its part is skipped with the reason; with
 * STEPFORM_CI_STRICT=1 that fails too. Output, results and durations are kept in .build/ci.
 */

const root = resolve(import.meta.dirname, '../..');
const folder = join(root, '.build/ci');
const report = (name: string): string => join(folder, `${name}.json`);
const strict = process.env.STEPFORM_CI_STRICT === '1';
const changedFilesAlone = 15;

const npm = (...args: string[]): [string, ...string[]] => ['npm', 'run', '--silent', ...args];

rmSync(folder, { recursive: true, force: true });
const parts = new Parts(folder, root);
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    parts.end();
    process.exit(1);
  });

/** One after the other, beside the tests, which wait for other processes for a third of their time. */
const runBeside = async (): Promise<void> => {
  // The template against CloudFormation's schemas, and deployed with `cdk deploy` to an emulator of AWS; both with Python.
  await parts.run({ name: 'template', command: npm('lint:template') });
  await parts.run({ name: 'deployment', command: npm('e2e:elsewhere') });
  // Runs while calls, runners and the platform fail, and an audit of what is left.
  await parts.run({ name: 'chaos', command: npm('chaos', '--', '--minutes', '1', '--seed', '20') });
  await parts.run({
    name: 'changed files alone',
    command: npm('test:alone', '--', '--limit', String(changedFilesAlone)),
  });
};

/** One more try where other processes may be in the way (test/support/second-tries.ts). */
const retries = { STEPFORM_TEST_RETRIES: '1' };

const runAll = async (): Promise<void> => {
  // coder and Gitea, which tests meet unmodified: built with Go where they are not kept from before, at the lowest priority.
  const builds = parts.run({ name: 'builds', command: npm('from-source', '--', 'build') });
  // The engine of policies: from the PATH, kept from before, downloaded, or built with Go in a few minutes.
  await parts.run({ name: 'opa', command: npm('opa') });
  const check = await parts.run({ name: 'lint, types and unused code', command: npm('check'), live: true });
  if (check.outcome === 'failed') {
    parts.end();
    await builds;
    for (const name of ['template', 'deployment', 'chaos', 'changed files alone', 'tests'])
      parts.skip(name, 'not begun: lint, types or unused code failed');
    return;
  }
  const beside = runBeside();
  await parts.run({
    name: 'tests',
    command: npm('test:only'),
    env: { ...retries, STEPFORM_TEST_REPORT: report('tests') },
    live: true,
  });
  await Promise.all([beside, builds]);
  await parts.run({
    name: 'tests with what was built',
    command: npm('from-source', '--', 'test'),
    env: { ...retries, STEPFORM_TEST_REPORT: report('from-source') },
  });
};

await runAll();
const { passed, failed, skipped, skippedIn } = countTests([report('tests'), report('from-source')], root);
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
  console.log('STEPFORM_CI_STRICT=1: each part must pass, and what is "not proven" must be provided.');
console.log(`\n${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exitCode = proven ? 0 : 1;
