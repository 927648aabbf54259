import { expect, it } from 'vitest';
import { timeAfter, timeOfDay } from '#clients/client/text/time.ts';
import { inOrder } from '#clients/web/text/timeline.ts';

const at = '2026-03-01T12:00:00.000Z';
const later = '2026-03-01T12:00:00.001Z';

it('the timeline orders causes before effects and the end last within a millisecond', () => {
  const moments = [
    { at: later, text: 'Later' },
    { at, text: 'Nothing to apply', end: true },
    { at, text: 'Planned' },
    { at, text: 'confirmed the plan', actor: 'user-1' },
  ];
  expect(inOrder(moments).map(({ text }) => text)).toEqual([
    'confirmed the plan',
    'Planned',
    'Nothing to apply',
    'Later',
  ]);
});

it('a time has its date if the day differs', () => {
  expect(timeAfter(at, later)).toBe(timeOfDay(at));
  expect(timeAfter(at, '2026-03-04T12:00:00Z')).toMatch(/Mar.*, /);
  expect(timeAfter(at, '2025-03-01T12:00:00Z').endsWith(timeOfDay(at))).toBe(true);
});
