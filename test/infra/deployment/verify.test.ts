import { expect, it } from 'vitest';
import type { Check } from '#infra/deployment/verify/check.ts';
import { differs, ok, skipped, within } from '#infra/deployment/verify/check.ts';
import { checks } from '#infra/deployment/verify/checks.ts';
import { type Line, lineText, overall, summary } from '#infra/deployment/verify/report.ts';

/** The report of `stepform verify`. test/e2e/verify.test.ts runs the checks. */

const [first, second] = checks as [Check, Check];
const line = (outcome: Omit<Line, 'check' | 'seconds'>, check = first): Line => ({ check, seconds: 12.34, ...outcome });

it('checks have distinct names that fit into their column', () => {
  const names = checks.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.filter((name) => name.length > 17)).toEqual([]);
});

it('a line has at most 80 columns, and continues below its text', () => {
  const text = lineText(
    line({ result: 'failed', text: 'run-1 ended as errored, not applied. The runner stopped. '.repeat(4) }),
  );
  const lines = text.split('\n');
  expect(lines.length).toBeGreaterThan(3);
  expect(lines.filter((one) => one.length > 80)).toEqual([]);
  expect(lines[0]).toMatch(/^failed {3}socket upgrade {6}12\.3 s {2}run-1 ended/);
  expect(lines.slice(1).every((one) => /^ {37}\S/.test(one))).toBe(true);
});

it('the text of a server cannot control the terminal', () => {
  expect(lineText(line(ok('\x1b[2Jcleared')))).not.toContain('\x1b[2J');
});

it('a measurement beyond the documented maximum differs', () => {
  expect(within(4, 5, 'took 4 s')).toMatchObject({ result: 'ok' });
  expect(within(6, 5, 'took 6 s')).toMatchObject({ result: 'differs', text: 'took 6 s; documented: 5 s at most' });
});

it('the worst result decides, and skipped checks do not', () => {
  const failed: Line = line({ result: 'failed', text: '' }, second);
  expect(overall([line(ok('')), line(skipped(''))])).toBe('ok');
  expect(overall([line(ok('')), line(differs(''))])).toBe('differs');
  expect(overall([line(differs('')), failed, line(ok(''))])).toBe('failed');
  expect(summary([line(ok('')), line(skipped('')), failed], 200)).toBe('1 ok, 1 failed, 1 skipped in 3.3 min.');
});
