import { styleText } from 'node:util';
import { plain } from '#clients/cli/paint.ts';
import { version } from '#clients/cli/program.ts';
import type { Check, Outcome, Result } from './check.ts';
import type { Target } from './target.ts';

/** Results as lines of at most 80 columns for people, or as JSON. */

export interface Line extends Outcome {
  check: Check;
  seconds: number;
}

const width = 80;
const widths = { result: 7, name: 17, time: 7 };
const indent = ' '.repeat(widths.result + widths.name + widths.time + 6);
const colors = { ok: 'green', differs: 'yellow', failed: 'red', skipped: 'dim' } as const;

/** Breaks text at spaces; a longer word stays whole. */
const wrapped = (text: string, columns: number): string[] =>
  text.split(/\s+/).reduce<string[]>((lines, word) => {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > columns) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
    return lines;
  }, []);

export const lineText = ({ check, result, text, seconds }: Line): string => {
  const time = result === 'skipped' ? '' : `${seconds.toFixed(1)} s`;
  const columns = [
    styleText(colors[result], result.padEnd(widths.result), { stream: process.stdout }),
    check.name.padEnd(widths.name),
    time.padStart(widths.time),
  ];
  return `${columns.join('  ')}  ${wrapped(plain(text), width - indent.length).join(`\n${indent}`)}`;
};

const count = (lines: Line[], result: Result): number => lines.filter((line) => line.result === result).length;

export const summary = (lines: Line[], seconds: number): string => {
  const counts = (['ok', 'differs', 'failed', 'skipped'] as const)
    .map((result) => [count(lines, result), result] as const)
    .filter(([number]) => number > 0)
    .map(([number, result]) => `${number} ${result}`);
  const time = seconds < 90 ? `${Math.round(seconds)} s` : `${(seconds / 60).toFixed(1)} min`;
  return `${counts.join(', ')} in ${time}.`;
};

/** The worst result. */
export const overall = (lines: Line[]): Result =>
  (['failed', 'differs', 'ok'] as const).find((result) => count(lines, result) > 0) ?? 'skipped';

export const document = (target: Target, startedAt: Date, lines: Line[]): object => ({
  version: version(),
  target: { kind: target.kind, title: target.title },
  'started-at': startedAt.toISOString(),
  seconds: (Date.now() - startedAt.getTime()) / 1000,
  result: overall(lines),
  checks: lines.map(({ check, result, text, seconds, figures }) => ({
    name: check.name,
    result,
    text,
    seconds: Number(seconds.toFixed(1)),
    ...(figures ? { measured: figures } : {}),
    documented: check.documented,
  })),
});
