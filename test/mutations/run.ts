import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { createVitest, type TestModule, type TestSpecification, type Vitest } from 'vitest/node';
import { apply, type Mutant } from './mutants.ts';

/**
 * Runs tests against mutants in one warm process. The parent (main.ts) sends the work as JSON on the command line, reads a
 * line of JSON for each mutant, and ends a process in which a mutant loops for ever.
 */

export interface Work {
  /** Folders or files of tests. */
  tests: string[];
  mutants: (Mutant & { file: string })[];
}

export type Outcome = { killer: string } | { survived: true } | { unloaded: true };

const root = resolve(import.meta.dirname, '../..');

/** What each file of tests has loaded (loaded.ts), a line each. */
const list = join(mkdtempSync(join(tmpdir(), 'loaded-')), 'modules');
process.env.STEPFORM_LOADED_MODULES = list;

let current: { path: string; code: string } | undefined;

const start = (): Promise<Vitest> =>
  createVitest(
    'test',
    { config: join(root, 'test/vitest.config.ts'), watch: false, bail: 1, project: ['unit'], maxWorkers: 1 },
    {
      plugins: [
        {
          name: 'mutant',
          enforce: 'pre',
          transform: (_: string, id: string) => (id === current?.path ? { code: current.code, map: null } : undefined),
        },
      ],
      test: { fsModuleCache: false, setupFiles: ['test/mutations/loaded.ts'] },
    } as never,
  );

const failureOf = (modules: readonly TestModule[]): string | undefined => {
  for (const module of modules) {
    const [test] = [...module.children.allTests('failed')];
    if (test) return `${module.relativeModuleId}: ${test.fullName}`;
    if (module.state() === 'failed')
      return `${module.relativeModuleId}: ${module.errors()[0]?.message ?? 'not loaded'}`;
  }
  return undefined;
};

const print = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

/** @returns test files by the product's files that they load */
const baseline = async (vitest: Vitest, specifications: TestSpecification[]): Promise<Map<string, Set<string>>> => {
  const { testModules } = await vitest.runTestSpecifications(specifications);
  const failure = failureOf(testModules);
  if (failure) throw new Error(`Tests must pass before mutants are made; this one fails: ${failure}`);
  const loading = new Map<string, Set<string>>();
  for (const line of readFileSync(list, 'utf8').trim().split('\n')) {
    const { test, files } = JSON.parse(line) as { test: string; files: string[] };
    for (const file of files) loading.set(file, (loading.get(file) ?? new Set()).add(test));
  }
  return loading;
};

const work = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Work;
const vitest = await start();
// Prepares reporters, and runs nothing.
await vitest.standalone();
const specifications = await vitest.globTestSpecifications(work.tests);
const loading = await baseline(vitest, specifications);
// Not for mutants.
delete process.env.STEPFORM_LOADED_MODULES;
print({ ready: specifications.length });
for (const mutant of work.mutants) {
  const path = join(root, mutant.file);
  const files = loading.get(path);
  if (!files) {
    print({ unloaded: true });
    continue;
  }
  current = { path, code: apply(readFileSync(path, 'utf8'), mutant) };
  vitest.invalidateFile(path);
  const chosen = specifications.filter(({ moduleId }) => files.has(moduleId));
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(chosen);
  const killer = failureOf(testModules) ?? (unhandledErrors.length > 0 ? String(unhandledErrors[0]) : undefined);
  current = undefined;
  vitest.invalidateFile(path);
  print(
    killer === undefined ? { survived: true } : { killer: relative(root, killer.replaceAll('\n', ' ').slice(0, 300)) },
  );
}
await vitest.close();
process.exit(0);
