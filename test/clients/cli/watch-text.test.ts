import { expect, it } from 'vitest';
import { exit } from '#clients/cli/exit.ts';
import type { WatchEvent } from '#clients/cli/watch.ts';
import { WatchText } from '#clients/cli/watch-text.ts';
import type { Resource } from '#clients/client/client.ts';

const linesOf = (...events: WatchEvent[]): string[] => {
  const lines: string[] = [];
  const { emit } = new WatchText('https://a.example', (line) => lines.push(line));
  for (const event of events) emit(event);
  return lines;
};

const run = (attributes: Record<string, unknown> = {}): Resource => ({
  id: 'run-1',
  type: 'runs',
  attributes: {
    status: 'applied',
    actions: {},
    'status-timestamps': {},
    'end-reason': null,
    'failed-checks': [],
    ...attributes,
  },
  links: { 'self-html': '/app/acme/workspaces/net%20work/runs/run-1' },
});

it('a watch prints which run is watched and its page URL', () => {
  expect(linesOf({ event: 'run', id: 'run-1', message: 'More', run: run({ 'is-destroy': true }) })).toEqual([
    'More (destroy)  run-1 in acme/net work',
    'https://a.example/app/acme/workspaces/net%20work/runs/run-1',
    '',
  ]);
});

it('a watch separates Terraform’s lines from the stages', () => {
  const changes = { additions: 1, changes: 2, destructions: 3, imports: 4 };
  const log = (line: string): WatchEvent => ({ event: 'log', phase: 'plan', line });
  expect(
    linesOf(
      { event: 'stage', stage: 'Pending', state: 'done', seconds: 0.12 },
      log('one'),
      log('two'),
      { event: 'stage', stage: 'Plan', state: 'failed', seconds: 75, changes },
      { event: 'stage', stage: 'Apply', state: 'stopped', seconds: 3.04, changes: { ...changes, imports: 0 } },
    ),
  ).toEqual([
    '✓ Pending           0.1 s',
    '',
    'one',
    'two',
    '',
    '✗ Plan          1 min 15 s  4 to import, 1 to add, 2 to change, 3 to destroy',
    '■ Apply             3.0 s  1 added, 2 changed, 3 destroyed',
  ]);
});

it('a watch prints results of run tasks, policies and cost estimates', () => {
  const policy = {
    name: 'few',
    'enforcement-level': 'soft-mandatory',
    status: 'failed',
    messages: ['a\nb', ...Array(10).fill('c')],
  };
  const passed = { ...policy, name: 'ok', status: 'passed', messages: ['not shown'] };
  const estimate = {
    event: 'cost-estimate' as const,
    status: 'finished',
    'prior-monthly-cost': '1.0',
    'proposed-monthly-cost': '74.5',
    'delta-monthly-cost': '73.5',
    'matched-resources-count': 1,
    'unmatched-resources-count': 0,
    'error-message': null,
  };
  const lines = linesOf(
    {
      event: 'task-result',
      stage: 'pre_plan',
      task: 'scan',
      'enforcement-level': 'mandatory',
      status: 'passed',
      message: 'fine',
      url: 'https://s.example',
    },
    {
      event: 'task-result',
      stage: 'pre_plan',
      task: 'lint',
      'enforcement-level': 'advisory',
      status: 'failed',
      message: null,
      url: null,
    },
    {
      event: 'policies',
      kind: 'policy-check',
      status: 'soft_failed',
      errors: ['set unreadable'],
      policies: [passed, policy],
    },
    { event: 'policies', kind: 'policy-check', status: 'overridden', errors: [], policies: [policy] },
    { event: 'policies', kind: 'policy-evaluation', status: 'overridden', errors: [], policies: [policy] },
    { ...estimate, 'unmatched-resources-count': 0 },
    { ...estimate, 'unmatched-resources-count': 2 },
    { ...estimate, 'matched-resources-count': 0, 'unmatched-resources-count': 1 },
    { ...estimate, status: 'errored', 'error-message': 'too large' },
  );
  expect(lines).toEqual([
    '  ✓ scan (mandatory) passed: fine  https://s.example',
    '  ! lint (advisory) failed',
    '  Policy check: soft failed, 1 of 2 policies passed',
    '  ✗ set unreadable',
    '  ✗ few (soft-mandatory) failed',
    '      a',
    '      b',
    ...Array(9).fill('      c'),
    '      and 1 more message',
    '  Policy check: overridden',
    '  Policies: overridden',
    '  $1.00 → $74.50 a month (+$73.50)',
    '  $1.00 → $74.50 a month (+$73.50), 2 resources without a known price not included',
    '  ! 1 resource without a known price',
    '  ! no estimate: too large',
  ]);
});

it("a watch prints no control sequences from other users' texts", () => {
  const hostile = '\x1b]0;owned\x07\x1b[2J\x9b31mred\x1b[31m\rx';
  const lines = linesOf(
    { event: 'run', id: 'run-1', message: hostile, run: run() },
    { event: 'log', phase: 'plan', line: hostile },
    {
      event: 'task-result',
      stage: 'pre_plan',
      task: hostile,
      'enforcement-level': 'advisory',
      status: 'failed',
      message: hostile,
      url: hostile,
    },
    {
      event: 'end',
      status: 'errored',
      name: 'Plan Errored',
      'exit-code': exit.errored,
      run: run({
        status: 'errored',
        'end-reason': hostile,
        'failed-checks': [{ address: hostile, message: hostile }],
      }),
    },
  );
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
  expect(lines.join('\n')).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
  expect(
    lines.filter((line) => line === '\\u009b31mredx'),
    'the log and the reason',
  ).toHaveLength(2);
});
