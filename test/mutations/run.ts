import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { BaseSequencer, createVitest, type TestModule, type TestSpecification, type Vitest } from 'vitest/node';
import { apply, type Mutant, marked } from './mutants.ts';

/**
 * Runs tests against mutants in one warm process. The parent (main.ts) passes a file with the work on the command line,
 * reads one line of JSON per mutant, and kills a process in which a mutant loops forever.
 */

export interface Work {
  /** Folders or files of tests. */
  tests: string[];
  mutants: (Mutant & { file: string })[];
  /** The first mutant to test: earlier ones have outcomes. */
  first: number;
  /** Number of covered mutants to test. */
  sample: number;
  /** Test files are run against a mutant, quickest first, until their baseline durations sum up to this. */
  maxMs: number;
  /** File with the coverage of tests, written by the first process of this work. */
  baseline: string;
}

/** `killer` is the file and the test that failed, `message` the first line of its failure. */
export type Outcome = { killer: string; message: string } | { survived: true } | { uncovered: true };

interface Baseline {
  /** ms for each test file */
  durations: Record<string, number>;
  /** Test files that execute the place of each mutant, fastest first. */
  covering: string[][];
}

const root = resolve(import.meta.dirname, '../..');

/** Places that each test file has executed (covered.ts), one line each. */
const scratch = mkdtempSync(join(tmpdir(), 'covered-'));
const list = join(scratch, 'mutants');
/** Replaced sources, for programs that tests start (program.ts). */
const mutated = join(scratch, 'sources.json');
process.env.STEPFORM_MUTATED = mutated;

const codeOf = new Map<string, string>();
let durations: Baseline['durations'] = {};

const msOf = ({ moduleId }: TestSpecification): number => durations[moduleId] ?? 0;
const quickestFirst = (files: TestSpecification[]): TestSpecification[] => [...files].sort((a, b) => msOf(a) - msOf(b));

/** The fastest covering test file is the first to notice a mutant. */
class QuickestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return quickestFirst(files);
  }
}

/** Test files of the last run: Vitest's own result has those of all runs. */
const ended: TestModule[] = [];

const run = async (
  vitest: Vitest,
  specifications: TestSpecification[],
): Promise<Extract<Outcome, { killer: string }> | undefined> => {
  ended.length = 0;
  const { unhandledErrors } = await vitest.runTestSpecifications(specifications);
  const [unhandled] = unhandledErrors;
  return (
    failureOf(ended) ??
    (unhandled === undefined ? undefined : { killer: 'an unhandled error', message: firstLine(String(unhandled)) })
  );
};

const start = (): Promise<Vitest> =>
  createVitest(
    'test',
    {
      config: join(root, 'test/vitest.config.ts'),
      watch: false,
      bail: 1,
      project: ['unit', 'e2e'],
      maxWorkers: 1,
      sequence: { sequencer: QuickestFirst },
      reporters: ['default', { onTestModuleEnd: (module) => void ended.push(module) }],
    },
    {
      plugins: [
        {
          name: 'mutant',
          enforce: 'pre',
          transform: (_: string, id: string) => {
            const code = codeOf.get(id);
            return code === undefined ? undefined : { code, map: null };
          },
        },
      ],
      test: { fsModuleCache: false, setupFiles: ['test/mutations/covered.ts'] },
    } as never,
  );

const firstLine = (text: string | undefined): string => text?.split('\n', 1)[0]?.slice(0, 300) ?? '';

const failureOf = (modules: readonly TestModule[]): Extract<Outcome, { killer: string }> | undefined => {
  for (const module of modules) {
    const [test] = [...module.children.allTests('failed')];
    const name = relative(root, module.moduleId);
    if (test) return { killer: `${name}: ${test.fullName}`, message: firstLine(test.result().errors?.[0]?.message) };
    if (module.state() === 'failed') return { killer: name, message: firstLine(module.errors()[0]?.message) };
  }
  return undefined;
};

const print = (line: object): void => void process.stdout.write(`\n${JSON.stringify(line)}\n`);

/** Replaces files and invalidates them in Vitest. */
const replace = (vitest: Vitest, code: Map<string, string>): void => {
  const files = [...codeOf.keys(), ...code.keys()];
  codeOf.clear();
  for (const [path, text] of code) codeOf.set(path, text);
  writeFileSync(mutated, JSON.stringify([...codeOf]));
  for (const path of files) vitest.invalidateFile(path);
};

const baselineOf = async (
  vitest: Vitest,
  specifications: TestSpecification[],
  mutants: Work['mutants'],
): Promise<Baseline> => {
  const numbers = new Map<string, Map<Mutant, number>>();
  for (const [number, mutant] of mutants.entries()) {
    const path = join(root, mutant.file);
    numbers.set(path, (numbers.get(path) ?? new Map<Mutant, number>()).set(mutant, number));
  }
  replace(vitest, new Map([...numbers].map(([path, own]) => [path, marked(readFileSync(path, 'utf8'), own)])));
  process.env.STEPFORM_COVERED_MUTANTS = list;
  const failure = await run(vitest, specifications);
  // Runs with mutants do not record coverage.
  delete process.env.STEPFORM_COVERED_MUTANTS;
  if (failure) throw new Error(`Tests must pass before mutants are made; ${failure.killer} fails: ${failure.message}`);
  const covering: string[][] = mutants.map(() => []);
  for (const line of readFileSync(list, 'utf8').trim().split('\n')) {
    const { test, mutants: executed } = JSON.parse(line) as { test: string; mutants: number[] };
    for (const number of executed) if (!covering[number]?.includes(test)) covering[number]?.push(test);
  }
  return {
    durations: Object.fromEntries(
      ended.map((module) => {
        // Files start their services while they are collected.
        const { duration, collectDuration } = module.diagnostic();
        return [module.moduleId, duration + collectDuration];
      }),
    ),
    covering,
  };
};

const work = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Work;
const vitest = await start();
// Prepares reporters without running a test.
await vitest.standalone();
const specifications = await vitest.globTestSpecifications(work.tests);
if (!existsSync(work.baseline))
  writeFileSync(work.baseline, JSON.stringify(await baselineOf(vitest, specifications, work.mutants)));
const baseline = JSON.parse(readFileSync(work.baseline, 'utf8')) as Baseline;
durations = baseline.durations;
print({ ready: specifications.length });
let tested = 0;
for (const [number, mutant] of work.mutants.entries()) {
  if (number < work.first) continue;
  if (tested === work.sample) break;
  const files = new Set(baseline.covering[number]);
  if (files.size === 0) {
    print({ uncovered: true });
    continue;
  }
  tested++;
  const path = join(root, mutant.file);
  replace(vitest, new Map([[path, apply(readFileSync(path, 'utf8'), mutant)]]));
  let ms = 0;
  const chosen = quickestFirst(specifications.filter(({ moduleId }) => files.has(moduleId))).filter((file) => {
    const isInTime = ms < work.maxMs;
    if (isInTime) ms += msOf(file);
    return isInTime;
  });
  print({ testing: ms });
  print((await run(vitest, chosen)) ?? { survived: true });
}
print({ ended: true });
await vitest.close();
process.exit(0);
