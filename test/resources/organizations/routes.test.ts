import { describe, expect, it } from 'vitest';
import { pointerOf, startApi, uniqueName } from '#test/support/api.ts';
import { on } from '#test/support/runs.ts';

const api = await startApi();

const create = async (name = uniqueName('org')) => {
  const answer = await api.post('organizations', { name, email: 'x@y.test' });
  expect(answer.status).toBe(201);
  return answer.body.data;
};

describe('organizations', () => {
  it('are found by name and owned by their creator', async () => {
    const created = await create();
    expect(created).toMatchObject({
      type: 'organizations',
      attributes: { email: 'x@y.test', 'fair-run-queuing-enabled': false },
    });
    expect(created.id).toBe(created.attributes.name);
    expect(created.attributes['external-id']).toMatch(/^org-\w{16}$/);
    expect(created.attributes['created-at']).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    const read = await api.get(`organizations/${created.id}`);
    expect(read.body.data).toEqual(created);
    const list = await api.get('organizations?q=ORG-');
    expect(list.body.data.map(({ id }: { id: string }) => id)).toContain(created.id);
    expect(list.body.data.map(({ id }: { id: string }) => id)).not.toContain('acme');
  });

  it('have unique names', async () => {
    const answer = await api.post('organizations', { name: 'acme', email: 'x@y.test' });
    expect(answer.status).toBe(422);
    expect(answer.body.errors[0]).toMatchObject({
      detail: 'Name has already been taken',
      source: { pointer: '/data/attributes/name' },
    });
  });

  it('complete an interrupted creation when it is retried', async () => {
    for (let call = 3; call <= 6; call++) {
      const name = uniqueName('cut');
      api.aws.failCall(call, 'before');
      const log = console.error;
      console.error = () => {};
      const first = await api.post('organizations', { name, email: 'x@y.test' });
      console.error = log;
      expect(first.status).toBe(500);
      expect((await api.post('organizations', { name, email: 'x@y.test' })).status).toBe(201);
      expect((await api.get(`organizations/${name}/projects`)).body.data).toHaveLength(1);
    }
  });

  it('change only the given attributes', async () => {
    const { id } = await create();
    const answer = await api.patch(`organizations/${id}`, { email: 'new@y.test', 'session-timeout': 60 });
    expect(answer.body.data.attributes).toMatchObject({ email: 'new@y.test', 'session-timeout': 60 });
    const cleared = await api.patch(`organizations/${id}`, { 'session-timeout': null });
    expect(cleared.body.data.attributes).toMatchObject({ email: 'new@y.test', 'session-timeout': null });
    expect((await api.patch(`organizations/${id}`, { name: id })).status).toBe(200);
  });

  it('set the time limits of runs that are created later', async () => {
    const { id } = await create();
    const limit = 'terraform-build-worker-apply-timeout';
    const started = async () => {
      const workspace = await api.post(`organizations/${id}/workspaces`, { name: uniqueName('ws') });
      await api.configuration(workspace.body.data.id);
      const run = await api.post('runs', {}, on(workspace.body.data.id));
      const sent = api.aws.sent.find(({ input }) => input.name === run.body.data.id);
      return JSON.parse(String(sent?.input.input));
    };
    expect(await started()).toMatchObject({ planTimeoutSeconds: 7200, applyTimeoutSeconds: 86_400 });
    const { body } = await api.patch(`organizations/${id}`, { [limit]: '1h30m' });
    expect(body.data.attributes).toMatchObject({ [limit]: '1h30m', 'terraform-build-worker-plan-timeout': null });
    expect(await started()).toMatchObject({ planTimeoutSeconds: 7200, applyTimeoutSeconds: 5400 });
    for (const wrong of ['25h', '0s', '5 minutes', 90]) {
      const refused = await api.patch(`organizations/${id}`, { [limit]: wrong });
      expect(pointerOf(refused)).toEqual([422, `/data/attributes/${limit}`]);
    }
  });

  it('are deleted with their workspaces', async () => {
    const { id } = await create();
    const workspace = await api.post(`organizations/${id}/workspaces`, { name: 'last' });
    expect((await api.call('DELETE', `organizations/${id}`)).status).toBe(204);
    expect((await api.get(`organizations/${id}`)).status).toBe(404);
    expect((await api.get(`workspaces/${workspace.body.data.id}`)).status).toBe(404);
    // Names are never reused: a former organization could be mistaken for the new one.
    const again = await api.post('organizations', { name: id, email: 'x@y.test' });
    expect(pointerOf(again)).toEqual([422, '/data/attributes/name']);
  });

  it('report the entitlements that the Terraform CLI requires', async () => {
    const { body } = await api.get('organizations/acme/entitlement-set');
    expect(body.data).toMatchObject({
      type: 'entitlement-sets',
      id: expect.stringMatching(/^org-/),
      attributes: { operations: true, 'state-storage': true },
    });
  });

  it('have no run queue of their own', async () => {
    expect((await api.get('organizations/acme/capacity')).body.data).toMatchObject({
      type: 'organization-capacity',
      attributes: { pending: 0, running: 0 },
    });
    const { body } = await api.get('organizations/acme/runs/queue');
    expect(body).toMatchObject({ data: [], meta: { pagination: { 'current-page': 1, 'total-pages': 1 } } });
  });

  it('return included resources', async () => {
    const { body } = await api.get('organizations/acme?include=entitlement_set,default-project');
    expect(body.included.map(({ type }: { type: string }) => type)).toEqual(['entitlement-sets', 'projects']);
  });
});

describe('projects', () => {
  const list = async (query = '') =>
    (await api.get(`organizations/acme/projects${query}`)).body.data.map(
      (one: { attributes: { name: string } }) => one.attributes.name,
    );

  it('start with the default project, which cannot be deleted', async () => {
    expect(await list()).toContain('Default Project');
    const { body } = await api.get('organizations/acme');
    const { id } = body.data.relationships['default-project'].data;
    expect((await api.call('DELETE', `projects/${id}`)).status).toBe(409);
  });

  it('are filtered by names', async () => {
    await api.post('organizations/acme/projects', { name: 'Network team' });
    expect(await list('?filter[names]=Network%20team')).toEqual(['Network team']);
    expect(await list('?filter[names]=none')).toEqual([]);
    expect(await list('?filter%5Bnames%5D=Network+team,Default+Project')).toHaveLength(2);
  });

  it('can be renamed and deleted, but not while they have workspaces', async () => {
    const created = (await api.post('organizations/acme/projects', { name: 'Temporary', description: 'x' })).body.data;
    expect(created).toMatchObject({ type: 'projects', attributes: { description: 'x' } });
    const renamed = await api.patch(`projects/${created.id}`, { name: 'Still temporary' });
    expect(renamed.body.data.attributes).toMatchObject({ name: 'Still temporary', description: 'x' });
    const project = { data: { type: 'projects', id: created.id } };
    const workspace = await api.post('organizations/acme/workspaces', { name: uniqueName('ws') }, { project });
    expect(workspace.body.data.relationships.project.data.id).toBe(created.id);
    expect((await api.call('DELETE', `projects/${created.id}`)).status).toBe(409);
    await api.call('DELETE', `workspaces/${workspace.body.data.id}`);
    expect((await api.call('DELETE', `projects/${created.id}`)).status).toBe(204);
    expect((await api.get(`projects/${created.id}`)).status).toBe(404);
    expect((await api.post('organizations/acme/projects', { name: 'Temporary' })).status).toBe(201);
  });

  it('have unique names in their organization', async () => {
    await api.post('organizations/acme/projects', { name: 'Once' });
    expect((await api.post('organizations/acme/projects', { name: 'Once' })).status).toBe(422);
    const other = (await api.post('organizations/acme/projects', { name: 'Twice' })).body.data;
    expect((await api.patch(`projects/${other.id}`, { name: 'Once' })).status).toBe(422);
  });
});

describe('account', () => {
  it('returns the user of the token', async () => {
    const { body } = await api.get('account/details');
    expect(body.data).toMatchObject({
      id: api.userId,
      type: 'users',
      attributes: { username: 'owner', email: 'owner@acme.test', 'is-service-account': false },
    });
    const changed = await api.patch('account/update', { username: 'boss' });
    expect(changed.body.data.attributes).toMatchObject({ username: 'boss', email: 'owner@acme.test' });
  });

  it('shows other users only by name', async () => {
    const { createUser } = await import('#resources/users/users.ts');
    const other = await createUser({ username: 'other', email: 'private@x.test' });
    const { body } = await api.get(`users/${other.id}`);
    expect(body.data.attributes.username).toBe('other');
    expect(JSON.stringify(body)).not.toContain('private@x.test');
    expect((await api.get(`users/${other.id}/authentication-tokens`)).status).toBe(404);
  });
});
