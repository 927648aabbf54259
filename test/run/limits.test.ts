import { expect, it } from 'vitest';
import { phaseSeconds, secondsIn } from '#run/limits.ts';

it.each([
  ['2h', 7200],
  ['1h30m', 5400],
  ['90s', 90],
  ['1h2m3s', 3723],
  ['0s', 0],
  ['', Number.NaN],
  ['5', Number.NaN],
  ['1d', Number.NaN],
  ['30s1h', Number.NaN],
  ['-1h', Number.NaN],
])('the duration %j has %d seconds', (duration, seconds) => {
  expect(secondsIn(duration)).toBe(seconds);
});

it('the time limits are 2 hours for a plan and 24 for an apply, unless the run has its own', () => {
  expect([phaseSeconds({}, 'plan'), phaseSeconds({}, 'apply')]).toEqual([7200, 86_400]);
  const timeLimits = { apply: 60 };
  expect([phaseSeconds({ timeLimits }, 'plan'), phaseSeconds({ timeLimits }, 'apply')]).toEqual([7200, 60]);
});
