import { expect, it } from 'vitest';
import { readHours, targetCount, type WarmRunners } from '#run/warm-runners.ts';

const setting = (hours?: string): WarmRunners => ({
  count: 3,
  pollMs: 1000,
  hours: hours ? readHours(hours) : undefined,
});
const target = (hours: string | undefined, at: string) => targetCount(setting(hours), Date.parse(at));

it('no runners stand by without a setting, and all of them around the clock without hours', () => {
  expect(targetCount(undefined, 0)).toBe(0);
  expect(target(undefined, '2026-11-22T03:00:00Z')).toBe(3);
});

it.each([
  // 2026-11-20 is a Friday. Berlin is an hour ahead of UTC in winter, two in summer.
  ['Mon-Fri 08:00-18:00 Europe/Berlin', '2026-11-20T06:59:59Z', 0],
  ['Mon-Fri 08:00-18:00 Europe/Berlin', '2026-11-20T07:00:00Z', 3],
  ['Mon-Fri 08:00-18:00 Europe/Berlin', '2026-11-20T16:59:59Z', 3],
  ['Mon-Fri 08:00-18:00 Europe/Berlin', '2026-11-20T17:00:00Z', 0],
  ['Mon-Fri 08:00-18:00 Europe/Berlin', '2026-07-10T06:00:00Z', 3],
  ['Mon-Fri 08:00-18:00 Europe/Berlin', '2026-11-21T10:00:00Z', 0],
  ['Fri 22:00-06:00 UTC', '2026-11-20T21:59:00Z', 0],
  ['Fri 22:00-06:00 UTC', '2026-11-20T22:00:00Z', 3],
  ['Fri 22:00-06:00 UTC', '2026-11-21T05:59:00Z', 3],
  ['Fri 22:00-06:00 UTC', '2026-11-21T06:00:00Z', 0],
  ['Fri 22:00-06:00 UTC', '2026-11-20T05:00:00Z', 0],
  ['Sat-Mon 00:00-24:00 UTC', '2026-11-22T23:59:00Z', 3],
  ['Sat-Mon 00:00-24:00 UTC', '2026-11-20T23:59:00Z', 0],
  ['Mon,Wed 00:00-24:00 Asia/Tokyo', '2026-11-24T15:00:00Z', 3],
])('with the hours %s there are at %s warm runners: %i', (hours, at, count) => {
  expect(target(hours, at)).toBe(count);
});

it.each([
  '',
  'Mon-Fri',
  'Mon-Fri 08:00-18:00',
  'Mon-Fri 08:00-18:00 Mars/Olympus',
  'Mon-Fri 08:00 UTC',
  'Mon-Fri 8-18 UTC',
  'Mon-Fri 8-18:00 UTC',
  '-Fri 08:00-18:00 UTC',
  'Mon- 08:00-18:00 UTC',
  'Mon-Fri 08:00-08:00 UTC',
  'Mon-Fri 24:00-06:00 UTC',
  'Mon-Fri 08:60-18:00 UTC',
  'Mon-Wed-Fri 08:00-18:00 UTC',
  'Workdays 08:00-18:00 UTC',
  'Mon-Fri 08:00-18:00 UTC and more',
])('the hours "%s" are rejected', (text) => {
  expect(readHours(text)).toBeUndefined();
});
