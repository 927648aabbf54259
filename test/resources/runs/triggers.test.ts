import { describe, expect, it } from 'vitest';
import { startApi } from '#test/support/api.ts';
import { ids, runHelpers } from '#test/support/runs.ts';

const api = await startApi();
const help = await runHelpers(api);

const sourceable = (id: string) => ({ sourceable: { data: { type: 'workspaces', id } } });
const connect = (from: string, to: string, sent = {}) =>
  api.post(`workspaces/${to}/run-triggers`, {}, sourceable(from), sent);

describe('a run trigger', () => {
  it('can be created, listed from both sides and deleted', async () => {
    const [from, to] = [await api.workspace(), await api.workspace()];
    const response = await connect(from.id, to.id);
    expect(response.status).toBe(201);
    const { data } = response.body;
    expect(data).toMatchObject({
      id: expect.stringMatching(/^rt-\w{16}$/),
      type: 'run-triggers',
      attributes: { 'workspace-name': to.attributes.name, 'sourceable-name': from.attributes.name },
      relationships: { workspace: { data: { id: to.id } }, sourceable: { data: { id: from.id } } },
    });
    expect((await api.get(`run-triggers/${data.id}`)).body.data).toEqual(data);
    const list = (id: string, type: string) =>
      api.get(`workspaces/${id}/run-triggers?filter[run-trigger][type]=${type}`);
    expect(ids((await list(to.id, 'inbound')).body.data)).toEqual([data.id]);
    expect(ids((await list(from.id, 'outbound')).body.data)).toEqual([data.id]);
    expect((await list(from.id, 'inbound')).body.data).toEqual([]);
    expect((await list(from.id, 'sideways')).status).toBe(400);
    expect((await api.get(`workspaces/${to.id}/run-triggers`)).status).toBe(400);
    const { included } = (await api.get(`run-triggers/${data.id}?include=workspace,sourceable`)).body;
    expect(ids(included)).toEqual([to.id, from.id]);
    expect((await api.call('DELETE', `run-triggers/${data.id}`)).status).toBe(204);
    expect((await api.get(`run-triggers/${data.id}`)).status).toBe(404);
    expect((await connect(from.id, to.id)).status).toBe(201);
  });

  it('is rejected for duplicates, itself, loops and hidden workspaces', async () => {
    const [a, b, c] = [await api.workspace(), await api.workspace(), await api.workspace()];
    await connect(a.id, b.id);
    await connect(b.id, c.id);
    const refused = async (from: string, to: string) => {
      const answer = await connect(from, to);
      expect([answer.status, answer.body.errors[0].source.pointer]).toEqual([422, '/data/relationships/sourceable']);
      return answer.body.errors[0].detail;
    };
    expect(await refused(a.id, b.id)).toMatch(/^sourceable: applies in .* already queue runs/);
    expect(await refused(a.id, a.id)).toMatch(/^sourceable: applies in .* endless loop/);
    expect(await refused(c.id, a.id)).toMatch(/^sourceable: applies in .* endless loop/);
    expect(await refused('ws-unknown', a.id)).toMatch(/^sourceable: workspace ws-unknown not found/);
    expect((await api.post(`workspaces/${a.id}/run-triggers`, {})).status).toBe(422);
    const writer = await help.user('write');
    expect((await connect(a.id, c.id, { token: writer.token })).status).toBe(403);
  });

  it('is deleted with either workspace', async () => {
    const [a, b, c] = [await api.workspace(), await api.workspace(), await api.workspace()];
    const [one, two] = [await connect(a.id, b.id), await connect(b.id, c.id)];
    expect((await api.call('DELETE', `workspaces/${b.id}`)).status).toBe(204);
    for (const { body } of [one, two]) expect((await api.get(`run-triggers/${body.data.id}`)).status).toBe(404);
    const outbound = await api.get(`workspaces/${a.id}/run-triggers?filter[run-trigger][type]=outbound`);
    expect(outbound.body.meta.pagination['total-count']).toBe(0);
  });

  it('is limited to 20 source workspaces', async () => {
    const { createRunTrigger } = await import('#resources/runs/triggers.ts');
    const { id: workspaceId } = await api.workspace();
    for (let n = 0; n < 20; n++) await createRunTrigger('acme', { workspaceId, sourceableId: `ws-source${n}` });
    expect((await connect((await api.workspace()).id, workspaceId)).body.errors[0].detail).toMatch(/20 workspaces/);
  });
});
