import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { machineCache } from '#infra/local/host/machine-cache.ts';
import type { Parts, Result } from './parts.ts';
import { countTests } from './test-report.ts';

/** Times at which each test passed only at its second try (UTC ISO 8601), by file and name. */
export type SecondTryHistory = Record<string, string[]>;

const keptDays = 30;
/** More second tries than this within a month are a defect, of the test or of its subject. */
const tolerated = 2;
/** More failed files than this are not a matter of chance. */
const mostFiles = 5;

/** Adds this run's tests to the history, and drops entries older than a month. */
export const addToHistory = (history: SecondTryHistory, tests: string[], now: Date): SecondTryHistory => {
  const oldest = new Date(now.getTime() - keptDays * 24 * 3_600_000).toISOString();
  const all = [...Object.entries(history), ...tests.map((name) => [name, [now.toISOString()]] as const)];
  const kept: SecondTryHistory = {};
  for (const [name, times] of all) {
    const recent = [...(kept[name] ?? []), ...times.filter((at) => at >= oldest)];
    if (recent.length > 0) kept[name] = recent;
  }
  return kept;
};

/** Tests that needed a second try too often. */
export const tooOften = (history: SecondTryHistory): string[] =>
  Object.entries(history)
    .filter(([, { length }]) => length > tolerated)
    .map(([name, { length }]) => `${name} (${length} times in ${keptDays} days)`);

const historyFile = (): string =>
  process.env.STEPFORM_SECOND_TRIES ?? join(process.env.STEPFORM_CACHE || machineCache, 'second-tries.json');

const read = (file: string): SecondTryHistory => {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as SecondTryHistory;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') console.error(`${file} is read as empty: ${error}`);
    return {};
  }
};

/** Files during which an error was thrown that belongs to no test, as Vitest prints them. */
const filesOfStrayErrors = (output: string, root: string): string[] =>
  [...stripVTControlCharacters(output).matchAll(/This error originated in "([^"]+)" test file/g)].map(([, file = '']) =>
    relative(root, resolve(root, file)),
  );

/**
 * Failures by file, of a part that ran Vitest: each with the test's name on its first line. An error that belongs to no
 * test is named by the file alone.
 * @param report Vitest's JSON report
 */
const failuresByFile = (report: string, output: string, root: string): Map<string, string[]> => {
  const failed = countTests([report], root).failedIn;
  for (const file of filesOfStrayErrors(output, root)) if (!failed.has(file)) failed.set(file, [file]);
  return failed;
};

interface SecondTry {
  /** Runs the test files that are its last arguments. */
  command: [string, ...string[]];
  /** Vitest's JSON reports of the two tries. */
  reports: [first: string, second: string];
  root: string;
}

/**
 * Runs the failed test files of a part once more, in new processes and with nothing beside: other processes may have
 * interfered. If they pass, the part has passed, and its result names them. They are counted in a file that outlives
 * the run (STEPFORM_SECOND_TRIES; in the user's cache by default); a test that is in it too often is a failure.
 */
export const tryAgain = async (parts: Parts, part: Result, { command, reports, root }: SecondTry): Promise<void> => {
  if (part.outcome !== 'failed') return;
  const failed = failuresByFile(reports[0], part.output, root);
  if (failed.size === 0 || failed.size > mostFiles) return;
  const second = await parts.run({
    name: `${part.name}, second try`,
    command: [...command, ...failed.keys()],
    env: { STEPFORM_TEST_REPORT: reports[1] },
    live: true,
  });
  if (second.outcome === 'failed') return;
  part.firstFailures = [...failed.values()].flat();
  const tests = part.firstFailures.map((failure) => failure.split('\n', 1)[0] as string);
  const file = historyFile();
  const history = addToHistory(read(file), tests, new Date());
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(history, undefined, 2));
  // Tests that did not need a second try in this run do not fail it.
  const bad = tooOften(history).filter((text) => tests.some((test) => text.startsWith(test)));
  const [, ...skips] = part.reasons;
  part.reasons = [...bad.map((text) => `needs a second try too often (${file}), mend it: ${text}`), ...skips];
  if (bad.length === 0) part.outcome = 'passed';
};
