import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join, resolve } from 'node:path';
import { buildMissing } from './build.ts';
import { programs, testsOf } from './programs.ts';

/**
 * `npm run from-source -- build` builds the missing programs, at the lowest priority; `npm run from-source -- test`
 * runs the tests that were skipped without the programs that have been built since. For `.ci/run`, which builds in
 * parallel with the other parts.
 */

const root = resolve(import.meta.dirname, '../..');
const note = join(root, '.build/from-source.json');
/** In parallel with the tests and after them, on two processors. */
const limitMs = 25 * 60_000;

const build = async (): Promise<void> => {
  rmSync(note, { force: true });
  setPriority(19);
  const hasGo = spawnSync('go', ['version']).status === 0;
  const built = await buildMissing({ programs, hasGo, limitMs, say: console.log });
  mkdirSync(join(root, '.build'), { recursive: true });
  writeFileSync(note, JSON.stringify(built));
};

const builtNow = (): string[] => {
  try {
    return JSON.parse(readFileSync(note, 'utf8')) as string[];
  } catch {
    return [];
  }
};

const test = (): number => {
  const files = programs.filter(({ name }) => builtNow().includes(name)).flatMap(testsOf);
  rmSync(note, { force: true });
  if (files.length === 0) return 0;
  const { status } = spawnSync('npx', ['vitest', 'run', '--config', 'test/vitest.config.ts', ...files], {
    cwd: root,
    stdio: 'inherit',
  });
  return status ?? 1;
};

const [what] = process.argv.slice(2);
if (what === 'build') await build();
else if (what === 'test') process.exitCode = test();
else {
  console.error('npm run from-source -- build | test');
  process.exitCode = 1;
}
