import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

interface Assertion {
  status: string;
  fullName?: string;
  failureMessages?: string[];
}

interface Report {
  testResults: { name: string; status: string; message: string; assertionResults: Assertion[] }[];
}

export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
  /** Files with skipped tests, and the number of them. */
  skippedIn: Map<string, number>;
  /** By file, each failed test, or the file that cannot be loaded: its name and the first lines of the failure. */
  failedIn: Map<string, string[]>;
}

const shownLines = 12;

const failuresIn = (file: string, { message, assertionResults }: Report['testResults'][number]): string[] => {
  const failed = assertionResults.filter(({ status }) => status === 'failed');
  const told = failed.map(({ fullName, failureMessages = [] }) => [`: ${fullName}`, ...failureMessages]);
  return (told.length > 0 ? told : [['', message]]).map(([name, ...reasons]) =>
    [`${file}${name}`, ...reasons.join('\n').split('\n').slice(0, shownLines)].join('\n  '),
  );
};

/** Results of all tests, from Vitest's JSON reports; a later report of a file replaces an earlier one. */
export const countTests = (reports: string[], root: string): Counts => {
  const files = new Map<string, Report['testResults'][number]>();
  for (const path of reports) {
    const text = readOrNothing(path);
    if (text === undefined) continue;
    for (const file of (JSON.parse(text) as Report).testResults) files.set(relative(root, file.name), file);
  }
  const counts: Counts = { passed: 0, failed: 0, skipped: 0, skippedIn: new Map(), failedIn: new Map() };
  for (const [name, file] of files) {
    const { status, assertionResults } = file;
    const of = (wanted: string[]) => assertionResults.filter((one) => wanted.includes(one.status)).length;
    const skipped = of(['pending', 'skipped', 'todo', 'disabled']);
    counts.passed += of(['passed']);
    // A file that cannot be loaded has no failed test.
    counts.failed += status === 'failed' ? Math.max(1, of(['failed'])) : 0;
    if (status === 'failed') counts.failedIn.set(name, failuresIn(name, file));
    counts.skipped += skipped;
    if (skipped > 0) counts.skippedIn.set(name, skipped);
  }
  return counts;
};

const readOrNothing = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};
