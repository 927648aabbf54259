import { expect, it } from 'vitest';
import { report, sorted, unanswered } from './report.ts';

const findings = {
  differences: new Map([
    ['runs.links: is not described', { example: 'GET /runs/run-1 → 200', times: 3 }],
    ['plans.links: is not described', { example: 'GET /plans/plan-1 → 200', times: 2 }],
    ['runs.attributes.size: is null', { example: 'GET /runs/run-2 → 200', times: 1 }],
  ]),
  checked: 1234,
  operations: new Set(['GET /runs/{run_id}']),
};
const links = ['*.links: is not described', 'JSON:API'] as const;

it('a report groups explained differences, and lists the rest', () => {
  expect(sorted(findings, [links])).toEqual({
    explained: [
      {
        known: links,
        differences: ['plans.links: is not described', 'runs.links: is not described'],
        times: 5,
      },
    ],
    open: ['runs.attributes.size: is null'],
    idle: [],
  });
});

it('only * is a wildcard in an explanation', () => {
  const near = ['runs.attributes.siz.: is null', ''] as const;
  expect(sorted(findings, [near])).toMatchObject({ explained: [], idle: [near] });
});

it('a report lists unexplained differences with their places', () => {
  const { lines, ok } = report({ findings, unanswered: [], whole: true }, [links]);
  expect(ok).toBe(false);
  expect(lines.join('\n')).toContain(
    '1,234 answers of 1 described operation: 2 differences explained in 1 line, 1 not',
  );
  expect(lines.join('\n')).toContain('runs.attributes.size: is null\n    1 time, as in GET /runs/run-2 → 200');
});

it('the report of a complete run lists unused explanations', () => {
  const all = [links, ['runs.attributes.size: is null', 'empty'], ['runs.links: *', 'shadowed']] as const;
  const whole = report({ findings, unanswered: [], whole: true }, all);
  expect(whole).toMatchObject({ ok: false, lines: expect.arrayContaining(['runs.links: *']) });
  expect(report({ findings, unanswered: [], whole: false }, all).ok).toBe(true);
});

it('a report lists routes that never succeeded', () => {
  const routes = [
    { method: 'GET', path: '/runs/{run}' },
    { method: 'GET', path: '/runs/{run}/plan' },
    { method: 'POST', path: '/runs' },
  ] as const;
  const missing = unanswered(routes, [
    { method: 'GET', url: '/runs/run-1?include=plan', status: 200 },
    { method: 'GET', url: '/runs/run-1/plan', status: 404 },
    { method: 'GET', url: '/runs', status: 200 },
  ]);
  expect(missing).toEqual(['GET /runs/{run}/plan', 'POST /runs']);
  const nothing = { ...findings, differences: new Map() };
  expect(report({ findings: nothing, unanswered: missing, whole: true }, [])).toMatchObject({
    ok: false,
    lines: expect.arrayContaining(['POST /runs']),
  });
});
