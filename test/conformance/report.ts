import type { Route } from '../../functions/api/route.ts';
import type { Known } from './accepted-differences.ts';
import { type Findings, patternOf } from './description.ts';
import type { Recorded } from './record.ts';

/** What is said of all differences: a line for each explanation, and every difference that has none. */

export interface Explained {
  known: Known;
  differences: string[];
  /** In how many places of answers. */
  times: number;
}

export interface Sorted {
  explained: Explained[];
  /** Not explained, by name. */
  open: string[];
  /** Explanations of nothing. */
  idle: Known[];
}

/** `*` stands for anything. */
const fits = (pattern: string, difference: string): boolean => {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(difference);
};

/** The first explanation that fits counts, so that one which others make needless is idle too. */
export const sorted = ({ differences }: Findings, known: readonly Known[]): Sorted => {
  const explained = new Map<Known, Explained>();
  const open: string[] = [];
  for (const [difference, { times }] of [...differences].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const found = known.find(([pattern]) => fits(pattern, difference));
    if (!found) {
      open.push(difference);
      continue;
    }
    const group = explained.get(found) ?? { known: found, differences: [], times: 0 };
    group.differences.push(difference);
    group.times += times;
    explained.set(found, group);
  }
  return {
    explained: known.flatMap((one) => explained.get(one) ?? []),
    open,
    idle: known.filter((one) => !explained.has(one)),
  };
};

/** Routes of this platform of which no answer was seen that is not an error. */
export const unanswered = (
  routes: readonly Pick<Route, 'method' | 'path'>[],
  answers: readonly Pick<Recorded, 'method' | 'url' | 'status'>[],
): string[] => {
  const good = answers
    .filter(({ status }) => status < 400)
    .map(({ method, url }) => `${method} ${url.replace(/\?.*/, '')}`);
  return routes
    .map(({ method, path }) => `${method} ${path}`)
    .filter((name) => !good.some((one) => patternOf(name).test(one)));
};

export interface Seen {
  findings: Findings;
  unanswered: string[];
  /** All tests were run: an explanation that fits nothing is one too many, and every route should have answered. */
  whole: boolean;
}

const count = (n: number, what: string): string => `${n.toLocaleString('en')} ${what}${n === 1 ? '' : 's'}`;

const section = (title: string, lines: string[]): string[] => (lines.length ? ['', `${title}:`, ...lines] : []);

export const report = (
  { findings, unanswered: silent, whole }: Seen,
  known: readonly Known[],
): { lines: string[]; ok: boolean } => {
  const { explained, open, idle } = sorted(findings, known);
  const explanations = explained.flatMap(({ known: [pattern, why], differences, times }) => [
    `${pattern} (${count(times, 'time')})`,
    `    ${why}`,
    ...(differences.length > 1 ? differences.map((difference) => `    - ${difference}`) : []),
  ]);
  const total = explained.reduce((sum, { differences }) => sum + differences.length, 0);
  const summary =
    `${count(findings.checked, 'answer')} of ${count(findings.operations.size, 'described operation')}: ` +
    `${count(total, 'difference')} explained in ${count(explained.length, 'line')}, ${open.length} not`;
  const problems = [
    ...section(
      'not explained (test/conformance/accepted-differences.ts)',
      open.map((difference) => {
        const seen = findings.differences.get(difference);
        return `${difference}\n    ${count(seen?.times ?? 0, 'time')}, as in ${seen?.example}`;
      }),
    ),
    ...section('explained, but not seen any more', whole ? idle.map(([pattern]) => pattern) : []),
    ...section('routes that no test got an answer from', whole ? silent : []),
  ];
  return { lines: [...explanations, '', summary, ...problems], ok: problems.length === 0 };
};
