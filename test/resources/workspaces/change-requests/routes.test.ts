import { expect, it } from 'vitest';
import { startApi } from '#test/support/api.ts';
import { runHelpers } from '#test/support/runs.ts';

const api = await startApi();
const help = await runHelpers(api);

const bulk = 'organizations/acme/explorer/bulk-actions';
const inputs = { subject: 'Upgrade Terraform', message: 'By **Friday**' };
const request = (target_ids: string[], more: object = {}) =>
  api.post(bulk, { action_type: 'change_requests', action_inputs: inputs, target_ids, ...more });
const listed = async (id: string, query = '') =>
  (await api.get(`workspaces/${id}/change-requests${query}`)).body.data as { id: string; attributes: object }[];
const openOf = async (id: string) => (await api.get(`workspaces/${id}`)).body.data.attributes['open-change-requests'];
const as = (token: string, body?: unknown) => ({ headers: { authorization: `Bearer ${token}` }, body });

it('a bulk action creates one change request for each workspace, until they are archived', async () => {
  const [a, b, other] = [(await api.workspace()).id, (await api.workspace()).id, (await api.workspace()).id];
  const made = await request([a, b, a]);
  expect([made.status, made.body.data]).toEqual([
    201,
    expect.objectContaining({ id: expect.stringMatching(/^eba-/), type: 'explorer_bulk_actions' }),
  ]);
  expect([await openOf(a), await openOf(b), await openOf(other)]).toEqual([1, 1, 0]);
  const [one] = await listed(a);
  expect(one).toMatchObject({
    id: expect.stringMatching(/^wscr-/),
    type: 'workspace-change-requests',
    attributes: { ...inputs, 'archived-at': null },
    relationships: { workspace: { data: { id: a } }, 'created-by': { data: { id: api.userId } } },
  });
  const path = `change-requests/${one?.id}`;
  expect((await api.get(path)).body.data).toEqual(one);
  const archived = (await api.post(`${path}/actions/archive`, {})).body.data;
  expect(archived).toMatchObject({ attributes: { 'archived-at': expect.stringMatching(/Z$/) } });
  expect((await api.get(`${path}/actions/archive`)).body.data).toEqual(archived);
  expect((await api.post(`${path}/actions/archive`, {})).status).toBe(400);
  expect([await listed(a, '?archive=false'), (await listed(a, '?archive=true')).length]).toEqual([[], 1]);
  expect((await api.get(`workspaces/${a}/change-requests?archive=maybe`)).status).toBe(400);
  expect(await openOf(a)).toBe(0);
});

it('change requests are created only by admins of all workspaces, read by readers and archived by writers', async () => {
  const { id } = await api.workspace();
  const [reader, writer] = [await help.user('read'), await help.user('write')];
  const body = { data: { attributes: { action_type: 'change_requests', action_inputs: inputs, target_ids: [id] } } };
  expect((await api.call('POST', bulk, as(writer.token, body))).status).toBe(403);
  expect((await request([id, 'ws-unknown'])).body.errors[0].detail).toMatch(/ws-unknown not found/);
  expect(await listed(id)).toEqual([]);
  await request([id]);
  const path = `change-requests/${(await listed(id))[0]?.id}`;
  expect((await api.call('GET', path, as(reader.token))).status).toBe(200);
  expect((await api.call('POST', `${path}/actions/archive`, as(reader.token))).status).toBe(403);
  expect((await api.call('POST', `${path}/actions/archive`, as(writer.token))).status).toBe(200);
});

it('a bulk action finds its workspaces by a query', async () => {
  const [a, b] = [await api.workspace({ name: 'bulk-a' }), await api.workspace({ name: 'bulk-b' })];
  const other = await api.workspace({ name: 'other' });
  const filter = [{ workspace_name: { contains: ['bulk-'] } }];
  const made = await request([], { target_ids: undefined, query: { type: 'workspaces', filter } });
  expect([made.status, made.body.data.attributes.target_ids]).toEqual([201, [a.id, b.id]]);
  expect([await openOf(a.id), await openOf(b.id), await openOf(other.id)]).toEqual([1, 1, 0]);
});

it.each([
  [{ action_type: 'delete' }, 'action_type', /no other bulk actions/],
  [{ target_ids: undefined }, 'target_ids', /Name the workspaces/],
  [{ query: { type: 'workspaces' } }, 'query', /together with target_ids/],
  [{ target_ids: undefined, query: { type: 'providers' } }, 'query', /must be workspaces/],
  [
    { target_ids: undefined, query: { type: 'workspaces', filter: [{ nosuch: { is: ['a'] } }] } },
    'query',
    /nosuch is not a field/,
  ],
  [
    { target_ids: undefined, query: { type: 'workspaces', filter: [{ workspace_name: { is: ['nosuch'] } }] } },
    'query',
    /finds no workspaces/,
  ],
  [{ action_inputs: { subject: ' ' } }, 'action_inputs', /is empty/],
])('a bulk action with %j is rejected, and the error names the field', async (change, field, detail) => {
  const { status, body } = await request(['ws-x'], change);
  expect([status, body.errors[0].detail]).toEqual([422, expect.stringMatching(detail)]);
  expect(body.errors[0].source.pointer).toContain(field);
});
