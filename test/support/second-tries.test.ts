import { expect, it } from 'vitest';
import { addToHistory, tooOften } from './second-tries.ts';

const day = (n: number): Date => new Date(Date.UTC(2026, 0, n));

it('a test that needed a second try three times in a month is reported as a defect', () => {
  let history = addToHistory({}, ['a.test.ts: x'], day(1));
  history = addToHistory(history, ['a.test.ts: x', 'a.test.ts: y'], day(20));
  expect(tooOften(history)).toEqual([]);
  history = addToHistory(history, ['a.test.ts: x'], day(25));
  expect(tooOften(history)).toEqual(['a.test.ts: x (3 times in 30 days)']);
});

it('second tries of more than a month ago are forgotten', () => {
  const history = addToHistory({ 'a.test.ts: x': [day(1).toISOString(), day(20).toISOString()] }, [], day(40));
  expect(history).toEqual({ 'a.test.ts: x': [day(20).toISOString()] });
  expect(addToHistory(history, [], day(60))).toEqual({});
});
