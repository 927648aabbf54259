import { expect, it } from 'vitest';
import { defaultTemplateSettings, type Template } from '#environments/templates/records.ts';
import { nextOccurrence, parseSchedule } from '#environments/workspaces/cron.ts';
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

const next = (text: string, after: string, allowed?: number[]): string | undefined => {
  const schedule = parseSchedule(text);
  const at = schedule && nextOccurrence(schedule, Date.parse(after), allowed);
  return at === undefined ? undefined : new Date(at).toISOString();
};

it.each([
  ['CRON_TZ=Europe/Dublin 30 9 * * Mon-Fri', '2026-01-02T10:00:00Z', '2026-01-05T09:30:00.000Z'],
  ['CRON_TZ=Europe/Dublin 30 9 * * Mon-Fri', '2026-07-01T08:00:00Z', '2026-07-01T08:30:00.000Z'],
  // Clocks are set forward at one o'clock that day.
  ['CRON_TZ=Europe/Dublin 30 9 * * 0', '2026-03-29T00:00:00Z', '2026-03-29T08:30:00.000Z'],
  ['0 0 * * *', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00.000Z'],
  ['CRON_TZ=Pacific/Auckland 0 8 * * 1', '2026-01-04T18:00:00Z', '2026-01-04T19:00:00.000Z'],
  ['0 9 * * sun', '2026-01-05T10:00:00Z', '2026-01-11T09:00:00.000Z'],
  ['*/20 17,9 * * sat,7', '2026-01-03T09:25:00Z', '2026-01-03T09:40:00.000Z'],
  ['5/20 9 * * *', '2026-01-03T09:10:00Z', '2026-01-03T09:25:00.000Z'],
  ['0 9 * * mon', '2026-01-05T09:00:00Z', '2026-01-12T09:00:00.000Z'],
])('the next time of %s after %s is %s', (text, after, expected) => {
  expect(next(text, after)).toBe(expected);
});

it('a schedule waits for an allowed day, and detects when there is none', () => {
  expect(next('0 9 * * *', '2026-01-05T10:00:00Z', [6])).toBe('2026-01-10T09:00:00.000Z');
  expect(next('0 9 * * 1', '2026-01-05T10:00:00Z', [6])).toBeUndefined();
});

it.each([
  '',
  '*/1.5 9 * * *',
  '*/5/7 9 * * *',
  '1-3-5 9 * * *',
  '0x1 9 * * *',
  '0 9 1 * *',
  '0 9 * 2 *',
  '60 9 * * *',
  '0 24 * * *',
  'CRON_TZ=Mars/Base 0 9 * * *',
  '0 9 * * 5-1',
  '@daily',
  '0 9 * * * *',
  'x-5 9 * * *',
  '*/0 9 * * *',
])('the schedule "%s" is rejected', (text) => {
  expect(parseSchedule(text)).toBeUndefined();
});
