import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { long } from '#test/support/longest-first.ts';
import { changedTests } from './changed-files.ts';

/**
 * `npm run test:alone`: runs unit test files in separate processes, so that none depends on the leftovers of another:
 * the files of the change, the named files, or all (`--all`). `--limit N` runs N of them, the longest only if
 * there are fewer.
 */

const root = resolve(import.meta.dirname, '../..');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { all: { type: 'boolean', default: false }, limit: { type: 'string' } },
});

const run = (files: string[]): number => {
  const args = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--config', 'test/vitest.config.ts'];
  const { status } = spawnSync(process.execPath, [...args, '--project', 'unit', '--maxWorkers', '2', ...files], {
    cwd: root,
    env: { ...process.env, STEPFORM_TEST_ALONE: '1' },
    stdio: 'inherit',
  });
  return status ?? 1;
};

const files = positionals.length > 0 || values.all ? positionals : changedTests(root);
if (files === undefined) console.error('SKIPPED: changed test files alone: there is no commit to compare with');
else if (files.length === 0 && !values.all) console.log('The change has no unit test files.');
else {
  const limit = Number(values.limit ?? Number.POSITIVE_INFINITY);
  const isLong = (file: string): number => Number(long.includes(file));
  const chosen = files.toSorted((a, b) => isLong(a) - isLong(b)).slice(0, limit);
  if (chosen.length < files.length) console.log(`${chosen.length} of ${files.length} changed files are run alone.`);
  process.exitCode = run(chosen);
}
