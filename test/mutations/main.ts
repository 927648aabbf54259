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
 * `npm run mutations -- functions/resources/teams/access [--tests test/resources/teams/access,test/api/who-may] [--sample 40] [--seed 1]`: changes the code
 * in one place at a time, and reports which changes no test notices. Changes that cannot be noticed are in equivalent.json.
 * The report is kept in .build/mutations.
 */

const root = resolve(import.meta.dirname, '../..');
/** A mutant for which the tests take longer is one that loops: it is noticed. */
const hangMs = 180_000;

interface Equivalent {
  file: string;
  before: string;
  after: string;
  reason: string;
}
const equivalents = JSON.parse(readFileSync(join(import.meta.dirname, 'equivalent.json'), 'utf8')) as Equivalent[];

type Placed = Mutant & { file: string };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    tests: { type: 'string' },
    sample: { type: 'string', default: '40' },
    seed: { type: 'string', default: '1' },
  },
});
const [target] = positionals;
if (!target || !existsSync(join(root, target))) {
  console.error('npm run mutations -- functions/FOLDER [--tests test/A,test/B] [--sample N] [--seed S]');
  process.exit(1);
}

const files = statSync(join(root, target)).isDirectory()
  ? globSync(`${target}/**/*.ts`, { cwd: root }).sort()
  : [target];

/** The folder of the same name, unless others are named. */
const tests = values.tests?.split(',') ?? [target.replace(/^functions\//, 'test/').replace(/\.ts$/, '.test.ts')];

const isEquivalent = (mutant: Placed): boolean =>
  equivalents.some(
    ({ file, before, after }) => file === mutant.file && before === mutant.before && after === mutant.after,
  );

const all = files.flatMap((file) =>
  mutantsOf(readFileSync(join(root, file), 'utf8')).map((mutant): Placed => ({ ...mutant, file })),
);
const candidates = all.filter((mutant) => !isEquivalent(mutant));

const sampleOf = (mutants: Placed[], size: number, seed: number): Placed[] => {
  const random = randomFrom(seed);
  const left = [...mutants];
  const chosen: Placed[] = [];
  while (left.length > 0 && chosen.length < size) chosen.push(...left.splice(Math.floor(random() * left.length), 1));
  return chosen;
};

/** One line of the process, or undefined when it has ended or takes too long. */
const lineOf = async (lines: AsyncIterator<string>, ms: number): Promise<string | undefined> => {
  const late = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), ms).unref());
  const next = lines.next().then(({ value, done }) => (done ? undefined : value));
  return Promise.race([next, late]);
};

const end = ({ pid }: ChildProcess): void => {
  try {
    if (pid) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
};

const place = ({ file, line, before, after }: Placed): string =>
  `${file}:${line}  ${before.replaceAll(/\s+/g, ' ').slice(0, 90)}  →  ${after.replaceAll(/\s+/g, ' ').slice(0, 90)}`;

/** Outcomes of mutants, from the first to one that hangs, or to the last. */
const runFrom = async (mutants: Placed[], tell: (mutant: Placed, outcome: Outcome) => void): Promise<number> => {
  const file = join(mkdtempSync(join(tmpdir(), 'mutations-')), 'work.json');
  writeFileSync(file, JSON.stringify({ tests, mutants } satisfies Work));
  const child = spawn(process.execPath, [join(import.meta.dirname, 'run.ts'), file], {
    cwd: root,
    stdio: ['ignore', 'pipe', openSync(output, 'a')],
    detached: true,
  });
  const lines = createInterface({ input: child.stdout as Readable })[Symbol.asyncIterator]();
  const outcomes = { next: async () => lines.next() } as AsyncIterator<string>;
  const json = async (ms: number): Promise<Record<string, unknown> | undefined> => {
    for (;;) {
      const line = await lineOf(outcomes, ms);
      if (line === undefined) return undefined;
      // The tests' own output is in between.
      if (line.startsWith('{"ready"') || /^\{"(killer|survived|unloaded)"/.test(line)) return JSON.parse(line);
    }
  };
  if (!(await json(600_000))) throw new Error(`The tests do not pass without a mutant; see ${output}.`);
  let done = 0;
  for (const mutant of mutants) {
    const outcome = (await json(hangMs)) as Outcome | undefined;
    tell(mutant, outcome ?? { killer: `the tests took longer than ${hangMs / 1000} s` });
    done++;
    if (!outcome) break;
  }
  end(child);
  return done;
};

const report = join(root, '.build/mutations', `${target.replaceAll('/', '-')}.json`);
/** The tests' messages. */
const output = report.replace(/json$/, 'log');
mkdirSync(join(report, '..'), { recursive: true });

const chosen = sampleOf(candidates, Number(values.sample), Number(values.seed));
console.log(
  `${target}: ${all.length} mutants, ${all.length - candidates.length} equivalent; ${chosen.length} sampled (seed ${values.seed}); tests: ${tests.join(', ')}`,
);
const results: { mutant: Placed; outcome: Outcome }[] = [];
while (results.length < chosen.length) {
  await runFrom(chosen.slice(results.length), (mutant, outcome) => {
    results.push({ mutant, outcome });
    if (!('killer' in outcome)) console.log(`${'unloaded' in outcome ? 'not loaded' : 'survived'}  ${place(mutant)}`);
  });
}
const killed = results.filter(({ outcome }) => 'killer' in outcome).length;
const loaded = results.filter(({ outcome }) => !('unloaded' in outcome)).length;
console.log(
  `${target}: ${killed} of ${results.length} noticed (${Math.round((100 * killed) / Math.max(1, results.length))} %); ` +
    `${Math.round((100 * killed) / Math.max(1, loaded))} % of those in files that the tests load`,
);
writeFileSync(
  report,
  JSON.stringify(
    results.map(({ mutant, outcome }) => ({ ...mutant, ...outcome })),
    undefined,
    2,
  ),
);
