import { expect, it } from 'vitest';
import { defaultTemplateSettings, type Template } from '#environments/templates/records.ts';
import { bumpedDeadline, deadlinesFrom, requiredStop } from '#environments/workspaces/schedule.ts';

const template = (change: Partial<Template>): Template => ({ ...defaultTemplateSettings, ...change }) as Template;
const at = (text: string) => Date.parse(text);
const iso = (ms: number | undefined) => ms && new Date(ms).toISOString();
const hour = 3_600_000;

it.each([
  ['the next of its days', ['friday'], 1, '2026-01-05T10:00:00Z', '2026-01-09T00:00:00.000Z'],
  ['not within two hours', ['tuesday'], 1, '2026-01-05T22:30:00Z', '2026-01-13T00:00:00.000Z'],
  // Weeks are counted from Monday, January 2, 2023: the week of January 5, 2026 is the 157th.
  ['in every second week only', ['friday'], 2, '2026-01-05T10:00:00Z', '2026-01-16T00:00:00.000Z'],
  ['exactly two hours later', ['tuesday'], 1, '2026-01-05T22:00:00Z', '2026-01-06T00:00:00.000Z'],
  ['in the second week itself', ['friday'], 2, '2026-03-09T10:00:00Z', '2026-03-13T00:00:00.000Z'],
  ['never without days', [], 1, '2026-01-05T10:00:00Z', undefined],
])('the template requires a stop: %s', (_, autostopDays, autostopWeeks, from, expected) => {
  expect(iso(requiredStop(template({ autostopDays, autostopWeeks }), at(from)))).toBe(expected);
});

it('an environment stops after the TTL, after the next start if that comes first, and at the required stop at the latest', () => {
  const from = at('2026-01-05T10:00:00Z');
  const plain = template({});
  expect(deadlinesFrom({ ttlMs: 8 * hour }, plain, from)).toEqual({ deadline: '2026-01-05T18:00:00.000Z' });
  const daily = { ttlMs: 30 * hour, autostartSchedule: 'CRON_TZ=UTC 0 9 * * *' };
  const before = { deadline: '2026-01-06T09:00:00.000Z' };
  expect(deadlinesFrom({ ...daily, ttlMs: 23 * hour }, plain, from), 'at the next start').toEqual(before);
  expect(deadlinesFrom(daily, plain, from)).toEqual({ deadline: '2026-01-07T15:00:00.000Z' });
  const max = '2026-01-06T00:00:00.000Z';
  const required = template({ autostopDays: ['tuesday'] });
  expect(deadlinesFrom(daily, required, from)).toEqual({ deadline: max, maxDeadline: max });
  expect(deadlinesFrom({}, required, from)).toEqual({ deadline: max, maxDeadline: max });
  expect(deadlinesFrom({ ttlMs: hour }, template({ allowUserAutostop: false }), from)).toEqual({});
});

it('use extends the deadline by an hour from now, at most to the required stop, and not for less than a twentieth', () => {
  const now = at('2026-01-05T10:00:00Z');
  const bump = (deadline: string, maxDeadline?: string) =>
    bumpedDeadline({ ttlMs: hour }, template({}), { deadline, ...(maxDeadline ? { maxDeadline } : {}) }, now);
  expect(bump('2026-01-05T10:10:00.000Z')).toBe('2026-01-05T11:00:00.000Z');
  expect(bump('2026-01-05T10:10:00.000Z', '2026-01-05T10:30:00.000Z')).toBe('2026-01-05T10:30:00.000Z');
  expect(bump('2026-01-05T10:57:00.000Z')).toBe('2026-01-05T11:00:00.000Z');
  expect(bump('2026-01-05T10:58:00.000Z')).toBeUndefined();
  expect(bump('2026-01-05T12:00:00.000Z')).toBeUndefined();
  const used = (autostartSchedule: string) =>
    bumpedDeadline({ ttlMs: 2 * hour, autostartSchedule }, template({}), { deadline: '2026-01-05T10:10:00.000Z' }, now);
  expect(used('30 10 * * *'), 'across the next start').toBe('2026-01-05T12:30:00.000Z');
  expect(used('0 11 * * *')).toBe('2026-01-05T11:00:00.000Z');
  const never = template({ activityBumpMs: 0 });
  expect(bumpedDeadline({ ttlMs: hour }, never, { deadline: '2026-01-05T09:00:00.000Z' }, now)).toBeUndefined();
});
