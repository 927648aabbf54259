import { expect, it } from 'vitest';
import {
  accessMeansOf,
  csvOfTrail,
  deedIn,
  placeOfEvent,
  programIn,
  type TrailEvent,
} from '#clients/web/text/audit.ts';

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
])('the text of an event describes it', (one, words) => {
  expect(deedIn(one)).toBe(words);
});

it.each([
  [event({}, { token_kind: 'user' }), undefined],
  [event({}, { token_kind: 'toString' }), undefined],
  [event({}, { token_kind: 'team' }), 'with a team token'],
  [event({}), 'by the platform, on their behalf'],
])('the means of access are the kind of token and the client', (one, words) => {
  expect(accessMeansOf(one)).toBe(words);
});

it.each([
  [event({}, { name: 'devs' }), { view: 'team', organization: 'acme', id: 'team-1' }],
  // The resource no longer exists.
  [event({}), undefined],
  [
    event({ type: 'varset', id: 'varset-1' }, { name: 'shared' }),
    { view: 'variable-set', organization: 'acme', id: 'varset-1' },
  ],
  [
    event({ type: 'run', id: 'run-1' }, { workspace: 'network', name: 'Nightly' }),
    { view: 'run', organization: 'acme', workspace: 'network', run: 'run-1' },
  ],
  [event({ type: 'run', id: 'run-1' }, { workspace: 'network' }), undefined],
  [event({ type: 'run', id: 'run-1' }, { name: 'Nightly' }), undefined],
  [event({ type: 'task', id: 'task-1' }, { name: 'scan' }), { view: 'run-tasks', organization: 'acme' }],
  [
    event({ type: 'var', id: 'var-1' }, { workspace: 'network', name: 'region' }),
    { view: 'workspace', organization: 'acme', workspace: 'network', tab: 'variables' },
  ],
  [
    event({ type: 'state_version', id: 'sv-1' }, { workspace: 'network' }),
    { view: 'state', organization: 'acme', workspace: 'network', version: 'sv-1' },
  ],
  [event({ action: 'destroy' }, { name: 'devs' }), undefined],
  [event({}, { outcome: 'refused', name: 'devs' }), undefined],
  [event({ id: null }), undefined],
  [event({ type: 'workspace', id: 'ws-1' }), undefined],
  [
    event({ type: 'workspace', id: 'ws-1' }, { workspace: 'network' }),
    { view: 'workspace', organization: 'acme', workspace: 'network', tab: 'overview' },
  ],
])('an event links to the resource if it has a view', (one, place) => {
  expect(placeOfEvent(one, 'acme')).toEqual(place);
});

it.each([
  [
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36',
    'Chrome 156',
  ],
  ['Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0', 'Edge 140'],
  ['Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15', 'Safari 18'],
  ['Terraform/1.11.4 (+https://www.terraform.io) go-tfe', 'Terraform 1.11.4'],
  ['go-tfe', 'go-tfe'],
  ['something else/1', 'something else/1'],
  ['stepform/0.1.0', 'stepform 0.1.0'],
  ['node', 'Node.js program'],
  ['deployer/2.1 (linux; amd64) lib/3', 'deployer 2.1'],
])('%s is shown as %s', (agent, name) => {
  expect(programIn(agent)).toBe(name);
});

it('events are exported as CSV without formulas', () => {
  const [names, line, rest] = csvOfTrail([
    {
      ...event({ type: 'workspace', id: 'ws-1' }, { user_agent: '=1+1', workspace: 'a "b", c', name: '=net' }),
      timestamp: '2030-01-01T00:00:00.000Z',
      auth: { accessor_id: 'user-1', description: '@evil' },
    },
  ]).split('\r\n');
  expect(names).toBe(
    'timestamp,actor,actor_id,resource,resource_id,resource_name,action,outcome,status,workspace,workspace_id,token_kind,token_id,address,user_agent',
  );
  expect(line).toBe(
    `2030-01-01T00:00:00.000Z,'@evil,user-1,workspace,ws-1,'=net,update,allowed,,"a ""b"", c",,,,,'=1+1`,
  );
  expect(rest).toBe('');
});
