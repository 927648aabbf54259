import { expect, it } from 'vitest';
import { deedIn, meansIn, placeOfEvent, type TrailEvent } from '../../../functions/web/text/audit.ts';

const event = (resource: Partial<TrailEvent['resource']>, meta: Partial<TrailEvent['resource']['meta']> = {}) =>
  ({
    resource: { type: 'team', id: 'team-1', action: 'update', ...resource, meta: { outcome: 'allowed', ...meta } },
  }) as TrailEvent;

it.each([
  [event({ type: 'policy_set', action: 'create' }), 'policy set: created'],
  [event({ action: 'destroy' }, { outcome: 'refused' }), 'team: delete'],
  [event({ type: 'workspace', action: 'lock' }, { outcome: 'failed' }), 'workspace: lock'],
  [event({ type: 'policy_set', action: 'create_workspaces' }), 'policy set: create workspaces'],
  [event({ action: 'constructor' }), 'team: constructor'],
])('an event is put into words', (one, words) => {
  expect(deedIn(one)).toBe(words);
});

it.each([
  [event({}, { token_kind: 'user' }), undefined],
  [event({}, { token_kind: 'toString' }), undefined],
  [event({}, { token_kind: 'team' }), 'with a team token'],
  [event({}), 'by the platform, on their behalf'],
])('says by what it was done', (one, words) => {
  expect(meansIn(one)).toBe(words);
});

it.each([
  [event({}), { view: 'team', organization: 'acme', id: 'team-1' }],
  [event({ type: 'varset', id: 'varset-1' }), { view: 'variable-set', organization: 'acme', id: 'varset-1' }],
  [
    event({ type: 'run', id: 'run-1' }, { workspace: 'network' }),
    { view: 'run', organization: 'acme', workspace: 'network', run: 'run-1' },
  ],
  [event({ type: 'run', id: 'run-1' }), undefined],
  [event({ action: 'destroy' }), undefined],
  [event({}, { outcome: 'refused' }), undefined],
  [event({ id: null }), undefined],
  [event({ type: 'workspace', id: 'ws-1' }), undefined],
])('leads to what it was about where that can be shown', (one, place) => {
  expect(placeOfEvent(one, 'acme')).toEqual(place);
});
