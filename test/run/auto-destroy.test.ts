import { describe, expect, it } from 'vitest';
import { activityMs, destroyTime, finalFailures, nextStep, timeAfterFailure } from '#run/auto-destroy.ts';

const now = '2026-03-10T12:00:00.000Z';
const at = (hours: number) => new Date(Date.parse(now) + hours * 3_600_000).toISOString();
const state = (hours: number, resources = 2) => ({ id: 'sv-1', at: at(hours), resources });
const step = (settings: object, progress: object = {}, current?: ReturnType<typeof state>) =>
  nextStep(settings, { state: current, progress: { lookedAt: at(-100), ...progress }, now });

it('a duration is read in hours and days, and other text is rejected', () => {
  expect([activityMs('1h'), activityMs('14d'), activityMs('9999h')]).toEqual([3.6e6, 14 * 8.64e7, 9999 * 3.6e6]);
  for (const wrong of ['0h', '00000d', '12345h', '1m', 'h', '1.5d', '-1d', ''])
    expect(activityMs(wrong)).toBeUndefined();
});

it('a duration counts from the last state with resources, and a fixed time is used unchanged', () => {
  expect(destroyTime({ autoDestroyActivityDuration: '2h' }, state(-1))).toBe(at(1));
  expect(destroyTime({ autoDestroyActivityDuration: '2h' }, state(-1, 0))).toBeUndefined();
  expect(destroyTime({ autoDestroyActivityDuration: '2h' }, undefined)).toBeUndefined();
  expect(destroyTime({ autoDestroyAt: at(3) }, undefined)).toBe(at(3));
  expect(destroyTime({}, state(-1))).toBeUndefined();
});

describe('a check of a workspace', () => {
  it('destroys due workspaces, and none without resources', () => {
    expect(step({ autoDestroyAt: at(-1) }, {}, state(-5))).toEqual({ do: 'destroy', due: at(-1) });
    expect(step({ autoDestroyAt: at(-1) }, {}, state(-5, 0))).toEqual({ do: 'nothing' });
    expect(step({ autoDestroyActivityDuration: '2h' }, {}, state(-2))).toEqual({ do: 'destroy', due: now });
    expect(step({}, {}, state(-2))).toEqual({ do: 'nothing' });
  });

  it('follows changes of the state, and waits while there is none', () => {
    expect(step({ autoDestroyActivityDuration: '2h' }, {}, state(-1))).toMatchObject({ do: 'wait', until: at(1) });
    expect(step({ autoDestroyActivityDuration: '2h' })).toEqual({ do: 'wait', until: at(2) });
  });

  it('sends reminders 24 and 12 hours before, unless less time was left when it was set', () => {
    const waits = (hours: number, lookedAt: number) =>
      step({ autoDestroyAt: at(hours) }, { lookedAt: at(lookedAt) }, state(-50));
    expect(waits(30, -1)).toEqual({ do: 'wait', until: at(6) });
    expect(waits(24, -1)).toEqual({ do: 'wait', until: at(12), reminds: at(24) });
    expect(waits(12, -5)).toEqual({ do: 'wait', until: at(12), reminds: at(12) });
    expect(waits(5, -1)).toEqual({ do: 'wait', until: at(5) });
  });

  it('retries after failures, but never destroys newer resources', () => {
    const failed = { failures: 1, basis: 'sv-1' };
    expect(step({ autoDestroyAt: at(-2) }, failed, state(-5))).toMatchObject({ do: 'destroy' });
    expect(step({ autoDestroyAt: at(-2) }, { ...failed, basis: 'sv-0' }, state(-1))).toEqual({ do: 'nothing' });
    const newer = step({ autoDestroyActivityDuration: '2h' }, { ...failed, basis: 'sv-0' }, state(-5));
    expect(newer, 'newer resources that a duration has made due').toEqual({ do: 'destroy', due: at(-3) });
    expect(step({ autoDestroyAt: at(-2) }, { ...failed, failures: finalFailures }, state(-5))).toEqual({
      do: 'nothing',
    });
    expect(step({ autoDestroyActivityDuration: '2h' }, { ...failed, failures: finalFailures }, state(-5))).toEqual({
      do: 'wait',
      until: at(2),
    });
  });

  it('is due 1, 4 and 12 hours after failures, then after the duration or never', () => {
    expect([1, 2, 3, 4].map((n) => timeAfterFailure({ autoDestroyAt: now }, n, now))).toEqual([
      at(1),
      at(4),
      at(12),
      undefined,
    ]);
    expect(timeAfterFailure({ autoDestroyActivityDuration: '3d' }, 4, now)).toBe(at(72));
  });
});
