import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

interface Report {
  testResults: { name: string; status: string; message: string; assertionResults: { status: string }[] }[];
}

export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
  /** Files with skipped tests, and the number of them. */
  skippedIn: Map<string, number>;
}

/** Results of all tests, from Vitest's JSON reports; a later report of a file replaces an earlier one. */
export const countTests = (reports: string[], root: string): Counts => {
  const files = new Map<string, Report['testResults'][number]>();
  for (const path of reports) {
    const text = readOrNothing(path);
    if (text === undefined) continue;
    for (const file of (JSON.parse(text) as Report).testResults) files.set(relative(root, file.name), file);
  }
  const counts: Counts = { passed: 0, failed: 0, skipped: 0, skippedIn: new Map() };
  for (const [name, { status, assertionResults }] of files) {
    const of = (wanted: string[]) => assertionResults.filter((one) => wanted.includes(one.status)).length;
    const skipped = of(['pending', 'skipped', 'todo', 'disabled']);
    counts.passed += of(['passed']);
    // A file that cannot be loaded has no failed test.
    counts.failed += status === 'failed' ? Math.max(1, of(['failed'])) : 0;
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
