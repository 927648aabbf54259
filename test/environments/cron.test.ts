import { expect, it } from 'vitest';
import { nextOccurrence, parseSchedule } from '#environments/workspaces/cron.ts';

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
