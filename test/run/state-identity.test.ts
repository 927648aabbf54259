import { expect, it } from 'vitest';
import { covers, isSameState, lostState, stateConflict } from '#run/state-identity.ts';

const state = { serial: 5, lineage: 'a', md5: 'm' };
const unsaved = { ...state, runId: 'run-1' };

it.each([
  ['the same one', state, unsaved, true],
  ['a later one', { ...state, serial: 6, md5: 'n' }, unsaved, true],
  ['an earlier one', { ...state, serial: 4 }, unsaved, false],
  ['another one with its serial', { ...state, md5: 'n' }, unsaved, false],
  ['one with the serial of a state of unknown content', { ...state, md5: 'n' }, { ...unsaved, md5: undefined }, true],
  ['one of another lineage', { ...state, serial: 9, lineage: 'b' }, unsaved, false],
  ['none', undefined, unsaved, false],
  ['none, of a lost first state', undefined, lostState('run-1', undefined), false],
  ['any, of a lost first state', { ...state, serial: 0 }, lostState('run-1', undefined), true],
  ['the state before the lost one', state, lostState('run-1', state), false],
  ['the state after the state before the lost one', { ...state, serial: 6 }, lostState('run-1', state), true],
] as const)('a workspace whose state is %s covers an unsaved state: %4$s', (_, current, left, expected) => {
  expect(covers(current, left)).toBe(expected);
});

it('a state can follow an earlier one of its lineage, and itself; a rejection names the remedy', () => {
  expect(stateConflict(undefined, state)).toBeUndefined();
  expect(stateConflict(state, { ...state })).toBeUndefined();
  expect(stateConflict(state, { ...state, serial: 6, md5: 'n' })).toBeUndefined();
  expect(stateConflict(state, { ...state, lineage: 'b', serial: 6 })).toMatch(/^The state has lineage b.*push --force/);
  expect(stateConflict(state, { ...state, md5: 'n' })).toMatch(/already has another state with serial 5.*push --force/);
  expect(stateConflict(state, { ...state, serial: 4 })).toMatch(/serial 4.* the newer serial 5.*push --force/);
  const others = [{ serial: 6 }, { lineage: 'b' }, { md5: 'n' }];
  expect(others.map((change) => isSameState(state, { ...state, ...change }))).toEqual([false, false, false]);
});
