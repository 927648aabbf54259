import { stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';
import { planLines } from '#clients/cli/plan-text.ts';

const change = (actions: string[], before: unknown, after: unknown, more = {}) => ({ actions, before, after, ...more });

const printed = (plan: Parameters<typeof planLines>[0]) => stripVTControlCharacters(planLines(plan).join('\n'));

it('the changes of a plan are printed, destructive ones first', () => {
  expect(
    printed({
      resource_changes: [
        { address: 'a.new', change: change(['create'], null, { name: 'x' }, { after_unknown: { id: true } }) },
        { address: 'a.same', change: change(['no-op'], { name: 'x' }, { name: 'x' }) },
        { address: 'a.gone', change: change(['delete'], { name: 'x' }, null) },
        {
          address: 'a.other',
          action_reason: 'replace_because_cannot_update',
          change: change(['delete', 'create'], { name: 'x', n: 1 }, { name: 'y', n: 1 }, { replace_paths: [['name']] }),
        },
      ],
      output_changes: {
        url: change(['update'], 'a', 'b'),
        map: change(['update'], { k: 1, l: 1, m: 1 }, { k: 2, l: 2, m: 1 }),
        list: change(['update'], [1], [1, 2]),
      },
    }),
  ).toBe(`
  # a.gone will be destroyed
  -   a.gone

  # a.other must be replaced
  # (it cannot be updated in place)
  -/+ a.other
      ~ name = "x" → "y"  # forces replacement

  # a.new will be created
  +   a.new
      + id = (known after apply)
      + name = "x"

Changes to outputs:
      + list[1] = 2
      ~ map.k = 1 → 2
      ~ map.l = 1 → 2
      ~ url = "a" → "b"`);
});

it('printed changes contain no sensitive values and no control characters', () => {
  const text = planLines({
    resource_changes: [
      {
        address: 'a.b',
        change: change(
          ['create'],
          null,
          { password: 'hunter2', name: '\x1b]0;owned\x07x' },
          {
            after_sensitive: { password: true },
          },
        ),
      },
    ],
  }).join('\n');
  expect(text).toContain('password = (sensitive value)');
  expect(text).not.toContain('hunter2');
  expect(text).not.toContain('\x1b]');
});

it('a plan without changes prints nothing', () => {
  expect(planLines({ resource_changes: [{ address: 'a.b', change: change(['no-op'], {}, {}) }] })).toEqual([]);
});
