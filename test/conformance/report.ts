import type { Route } from '#api/route.ts';
import type { Known } from './accepted-differences.ts';
import { type Findings, patternOf } from './description.ts';
import type { Recorded } from './record.ts';

/** Report of all differences: one line per explanation, and every difference without one. */

export interface Explained {
  known: Known;
  differences: string[];
  /** Number of places. */
  times: number;
}

export interface Sorted {
  explained: Explained[];
  /** Unexplained ones, by name. */
  open: string[];
  /** Explanations without a difference. */
  idle: Known[];
}

/** `*` is a wildcard. */
const fits = (pattern: string, difference: string): boolean => {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(difference);
};

/** The first match counts, so that an explanation that others make redundant is reported too. */
export const sorted = ({ differences }: Findings, accepted: readonly Known[]): Sorted => {
  const explained = new Map<Known, Explained>();
  const open: string[] = [];
  for (const [difference, { times }] of [...differences].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const reason = accepted.find(([pattern]) => fits(pattern, difference));
    if (!reason) {
      open.push(difference);
      continue;
    }
    const group = explained.get(reason) ?? { known: reason, differences: [], times: 0 };
    group.differences.push(difference);
    group.times += times;
    explained.set(reason, group);
  }
  return {
    explained: accepted.flatMap((one) => explained.get(one) ?? []),
    open,
    idle: accepted.filter((one) => !explained.has(one)),
  };
};

/** Routes of this platform without a successful response. */
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
  /** After a complete run, an unused explanation is an error, and every route must have responded. */
  whole: boolean;
}

const count = (n: number, what: string): string => `${n.toLocaleString('en')} ${what}${n === 1 ? '' : 's'}`;

const section = (title: string, lines: string[]): string[] => (lines.length ? ['', `${title}:`, ...lines] : []);

export const report = (
  { findings, unanswered: silent, whole }: Seen,
  accepted: readonly Known[],
): { lines: string[]; ok: boolean } => {
  const { explained, open, idle } = sorted(findings, accepted);
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
        const occurrence = findings.differences.get(difference);
        return `${difference}\n    ${count(occurrence?.times ?? 0, 'time')}, as in ${occurrence?.example}`;
      }),
    ),
    ...section('explained, but not seen any more', whole ? idle.map(([pattern]) => pattern) : []),
    ...section('routes that no test got an answer from', whole ? silent : []),
  ];
  return { lines: [...explanations, '', summary, ...problems], ok: problems.length === 0 };
};
