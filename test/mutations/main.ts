import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, globSync, mkdirSync, mkdtempSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { parseArgs } from 'node:util';
import { randomFrom } from '#infra/local/host/faults.ts';
import { type Mutant, mutantsOf } from './mutants.ts';
import type { Outcome, Work } from './run.ts';

/**
 * `npm run mutations -- functions/FOLDER [functions/OTHER …] [--tests test/resources/teams,test/api/who-may] [--sample
 * 40] [--seed 1] [--seconds 60]`: changes one place of the code at a time, where tests execute it, and reports changes
 * that no test notices. Test files that start after `--seconds` of quicker ones are left out: a narrow test should
 * notice. `functions/FILE.ts:LINE` tests the mutants of one line, and names the test that notices each. Equivalent
 * mutants are in equivalent.json. The report with each mutant's killer is in .build/mutations. End-to-end tests share
 * one platform, and only programs that they start, such as the command line, have a mutant: `functions/clients/cli
 * --tests test/clients/cli,test/e2e/stepform.test.ts`.
 */

const root = resolve(import.meta.dirname, '../..');
/**
 * A mutant whose tests take longer than this plus five times their baseline is taken to loop forever, and counts as
 * noticed.
 */
const hangMs = 60_000;

const hang = 'a hang';

interface Equivalent {
  file: string;
  /** The line, without indentation. */
  code: string;
  before: string;
  after: string;
  reason: string;
}
const equivalents = JSON.parse(readFileSync(join(import.meta.dirname, 'equivalent.json'), 'utf8')) as Equivalent[];

type Placed = Mutant & { file: string; code: string };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    tests: { type: 'string' },
    sample: { type: 'string', default: '40' },
    seed: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '60' },
  },
});
const targets = positionals.map((name) => name.replace(/:\d+$/, ''));
const onlyLines = new Set(positionals.filter((name) => /:\d+$/.test(name)));
if (targets.length === 0 || !targets.every((target) => existsSync(join(root, target)))) {
  console.error(
    'npm run mutations -- functions/FOLDER [functions/OTHER …] [--tests test/A,test/B] [--sample N] [--seed S] [--seconds T]',
  );
  process.exit(1);
}
const title = onlyLines.size > 0 ? 'single lines' : targets.join(' ');

const filesOf = (target: string): string[] =>
  statSync(join(root, target)).isDirectory() ? globSync(`${target}/**/*.ts`, { cwd: root }).sort() : [target];
const files = [...new Set(targets.flatMap(filesOf))];

/**
 * The folder or file of the same name, unless others are named. Folders end with a slash, because a name could be the
 * prefix of another.
 */
const mirrors = targets.map((target) => target.replace(/^functions\//, 'test/').replace(/\.ts$/, '.test.ts'));
const tests = (values.tests?.split(',') ?? mirrors).map((name) =>
  statSync(join(root, name), { throwIfNoEntry: false })?.isDirectory() ? `${name.replace(/\/$/, '')}/` : name,
);

const isEquivalent = (mutant: Placed): boolean =>
  equivalents.some(
    ({ file, code, before, after }) =>
      file === mutant.file && code === mutant.code && before === mutant.before && after === mutant.after,
  );

const mutantsIn = (file: string): Placed[] => {
  const source = readFileSync(join(root, file), 'utf8');
  const text = source.split('\n');
  return mutantsOf(source).map((mutant) => ({ ...mutant, file, code: text[mutant.line - 1]?.trim() ?? '' }));
};

const all = files
  .flatMap(mutantsIn)
  .filter(({ file, line }) => onlyLines.size === 0 || onlyLines.has(`${file}:${line}`));
const candidates = all.filter((mutant) => !isEquivalent(mutant));

/** In a random order, reproducible by the seed. */
const shuffled = (mutants: Placed[], seed: number): Placed[] => {
  const random = randomFrom(seed);
  const left = [...mutants];
  return mutants.flatMap(() => left.splice(Math.floor(random() * left.length), 1));
};

/** One line of the process, or undefined if it has ended or takes too long. */
const lineOf = async (lines: AsyncIterator<string>, ms: number): Promise<string | undefined> => {
  const late = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), ms).unref());
  const next = lines.next().then(({ value, done }) => (done ? undefined : value));
  return Promise.race([next, late]);
};

const end = ({ pid }: ChildProcess): void => {
  try {
    if (pid) process.kill(-pid, 'SIGKILL');
  } catch {
    // The process has ended.
  }
};

const place = ({ file, line, before, after }: Placed): string =>
  `${file}:${line}  ${before.replaceAll(/\s+/g, ' ').slice(0, 90)}  →  ${after.replaceAll(/\s+/g, ' ').slice(0, 90)}`;

const folder = mkdtempSync(join(tmpdir(), 'mutations-'));

/**
 * Tests mutants from the first without an outcome to one that hangs, or to the end.
 * @returns whether it reached the end
 */
const run = async (mutants: Placed[], results: Outcome[], sample: number): Promise<boolean> => {
  const file = join(folder, 'work.json');
  const baseline = join(folder, 'baseline.json');
  const first = results.length;
  writeFileSync(
    file,
    JSON.stringify({
      tests,
      mutants,
      first,
      sample: sample - covered(results),
      maxMs: Number(values.seconds) * 1000,
      baseline,
    } satisfies Work),
  );
  const child = spawn(process.execPath, [join(import.meta.dirname, 'run.ts'), file], {
    cwd: root,
    stdio: ['ignore', 'pipe', openSync(output, 'a')],
    detached: true,
  });
  const lines = createInterface({ input: child.stdout as Readable })[Symbol.asyncIterator]();
  const json = async (ms: number): Promise<Record<string, unknown> | undefined> => {
    const until = performance.now() + ms;
    for (;;) {
      const left = Math.max(0, until - performance.now());
      const line = await lineOf({ next: async () => lines.next() } as AsyncIterator<string>, left);
      if (line === undefined) return undefined;
      // The tests' own output appears in between.
      if (/^\{"(ready|testing|killer|survived|uncovered|ended)"/.test(line)) return JSON.parse(line);
    }
  };
  try {
    if (!(await json(1_800_000))) throw new Error(`The tests do not pass without a mutant; see ${output}.`);
    for (const mutant of mutants.slice(first)) {
      const began = performance.now();
      let outcome = await json(hangMs);
      const limit = hangMs + 5 * Number(outcome?.testing);
      if (outcome && 'testing' in outcome) outcome = await json(limit);
      if (outcome && 'ended' in outcome) return true;
      results.push((outcome as Outcome | undefined) ?? { killer: hang, message: `longer than ${limit / 1000} s` });
      if (outcome && 'survived' in outcome) console.log(`survived  ${place(mutant)}`);
      if (outcome && 'killer' in outcome && onlyLines.size > 0) {
        const seconds = ((performance.now() - began) / 1000).toFixed(1);
        console.log(`noticed after ${seconds} s  ${place(mutant)}\n  by ${outcome.killer}\n  ${outcome.message}`);
      }
      if (!outcome) return false;
    }
    return true;
  } finally {
    end(child);
  }
};

const covered = (results: Outcome[]): number => results.filter((outcome) => !('uncovered' in outcome)).length;

/** Names of files are limited to 255 bytes. */
const report = join(root, '.build/mutations', `${title.replaceAll(/[/ :]/g, '-').slice(0, 200)}.json`);
/** Messages of the tests. */
const output = report.replace(/json$/, 'log');
mkdirSync(join(report, '..'), { recursive: true });

const mutants = shuffled(candidates, Number(values.seed));
const sample = Number(values.sample);
console.log(
  `${title}: ${all.length} mutants, ${all.length - candidates.length} equivalent; seed ${values.seed}; tests: ${tests.join(', ')}`,
);
const results: Outcome[] = [];
while (!(await run(mutants, results, sample)) && covered(results) < sample);
const killed = results.filter((outcome) => 'killer' in outcome).length;
const hangs = results.filter((outcome) => 'killer' in outcome && outcome.killer === hang).length;
const tested = covered(results);
console.log(
  `${title}: ${killed} of ${tested} covered mutants noticed (${Math.round((100 * killed) / Math.max(1, tested))} %); ` +
    `${hangs ? `${hangs} by a hang; ` : ''}the tests cover ${tested} of the first ${results.length} drawn`,
);
writeFileSync(
  report,
  JSON.stringify(
    results.map((outcome, number) => ({ ...mutants[number], ...outcome })),
    undefined,
    2,
  ),
);
