/** Results of a suite's tests, and their differences from the expected ones. */

export type Outcome = 'passed' | 'failed' | 'skipped';

export interface Result {
  outcome: Outcome;
  /** Everything that the test printed, with its subtests. */
  output: string;
}

interface Group {
  reason: string;
  tests: string[];
}

/** The only differences from "every test passes". */
export interface Expected {
  /** Tests that fail, by the reason. */
  failing: Group[];
  /**
   * Tests whose result says nothing about the platform, because of the machine, chance, or a defect of their own. They
   * may pass or fail, and are not counted.
   */
  apart: Group[];
  /** What tests print that skip themselves here. */
  skips: RegExp[];
}

/** A line of `go tool test2json`. */
interface Event {
  Action: string;
  Test?: string;
  Output?: string;
}

const outcomes: Record<string, Outcome> = { pass: 'passed', fail: 'failed', skip: 'skipped' };

/**
 * Results by top-level test. A test that had begun when the program ended, as after a panic of another one, has none.
 * @param lines output of `go tool test2json`
 */
export const resultsOf = (lines: string[]): Map<string, Result> => {
  const outputs = new Map<string, string[]>();
  const results = new Map<string, Result>();
  for (const line of lines) {
    if (!line.startsWith('{')) continue;
    const { Action, Test, Output = '' } = JSON.parse(line) as Event;
    if (!Test) continue;
    const [name = ''] = Test.split('/');
    const printed = outputs.get(name) ?? [];
    outputs.set(name, printed);
    printed.push(Output);
    const outcome = outcomes[Action];
    if (outcome && name === Test) results.set(name, { outcome, output: '' });
  }
  for (const [name, result] of results) result.output = (outputs.get(name) ?? []).join('');
  return results;
};

const namesIn = (groups: Group[]): Set<string> => new Set(groups.flatMap(({ tests }) => tests));

const isExpected = (name: string, { outcome, output }: Result, { failing, apart, skips }: Expected): boolean => {
  switch (outcome) {
    case 'passed':
      return !namesIn(failing).has(name);
    case 'failed':
      return namesIn([...failing, ...apart]).has(name);
    case 'skipped':
      return skips.some((message) => message.test(output));
  }
};

/** Lines to show; none if the results are as expected. @param names all tests that were to run */
export const differences = (names: string[], results: Map<string, Result>, expected: Expected): string[] =>
  names.flatMap((name) => {
    const result = results.get(name);
    if (!result) return `${name} has no result`;
    if (isExpected(name, result, expected)) return [];
    return result.outcome === 'passed'
      ? `${name} passes now: remove it from the list`
      : `${name} ${result.outcome}:\n${result.output.trimEnd()}`;
  });

/** Entries of the list that no test has: renamed or removed by a newer version of the suite. */
export const unknownNames = (names: string[], { failing, apart }: Expected): string[] =>
  [...namesIn([...failing, ...apart])].filter((test) => !names.includes(test));

/** Failures that may be due to other processes: all but the expected ones. */
export const unexpectedFailures = (results: Map<string, Result>, { failing, apart }: Expected): string[] => {
  const listed = namesIn([...failing, ...apart]);
  return [...results].flatMap(([name, { outcome }]) => (outcome === 'failed' && !listed.has(name) ? name : []));
};

export const summaryOf = (names: string[], results: Map<string, Result>, { apart }: Expected): string => {
  const uncounted = namesIn(apart);
  const counted = names.filter((name) => !uncounted.has(name));
  const count = (outcome: Outcome) => counted.filter((name) => results.get(name)?.outcome === outcome).length;
  const reached = count('passed') + count('failed');
  const share = ((100 * count('passed')) / Math.max(reached, 1)).toFixed(1);
  const others = `${count('skipped')} skipped, ${names.length - counted.length} not counted`;
  return `${count('passed')} of ${reached} tests passed (${share} %), ${others}`;
};
