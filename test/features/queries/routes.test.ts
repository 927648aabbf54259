import { describe, expect, it } from 'vitest';
import { startApi } from '#test/support/api.ts';
import { on, runHelpers } from '#test/support/runs.ts';

/** Query runs (HCP API: query runs). */

const api = await startApi();
const help = await runHelpers(api);
const { finishRun } = await import('#lifecycle/phases/finish.ts');

const runIdOf = (id: string): string => id.replace('query-', 'run-');
const start = (workspaceId: string, attributes: object = {}, version?: string) =>
  api.post('queries', { source: 'tfe-api', ...attributes }, on(workspaceId, version));

describe('a query run', () => {
  it('is pending, runs and finishes, beside the queue and the lock of its workspace', async () => {
    const { id, version } = await help.ready({ 'terraform-version': '1.14.0' });
    const { status, body } = await start(id, { variables: [{ key: 'a', value: '1' }] });
    expect(status).toBe(201);
    expect(body.data).toMatchObject({
      type: 'queries',
      attributes: {
        status: 'pending',
        'generate-config-out': true,
        'terraform-version': '1.14.0',
        variables: [{ key: 'a', value: '1' }],
        actions: { 'is-cancelable': true, 'is-force-cancelable': false },
      },
      relationships: {
        workspace: { data: { id } },
        'configuration-version': { data: { id: version } },
        'created-by': { data: { id: api.userId } },
      },
    });
    const path = `queries/${body.data.id}`;
    await help.bring(runIdOf(body.data.id), { status: 'plan_queued' });
    expect((await api.get(path)).body.data.attributes.status).toBe('queued');
    const report = {
      outcome: 'finished',
      generatedConfiguration: true,
      artifacts: { 'generated-configuration': 'sha' },
    };
    await help.bring(runIdOf(body.data.id), { status: 'planning', 'plan.status': 'running', 'plan.report': report });
    await finishRun(runIdOf(body.data.id), 'PlannedAndFinished');
    expect((await api.get(path)).body.data.attributes.status).toBe('finished');
    expect((await api.get(`${path}/generated-configuration`)).status).toBe(307);
    const workspace = (await api.get(`workspaces/${id}`)).body.data;
    expect([workspace.attributes.locked, workspace.relationships['latest-run'].data]).toEqual([false, null]);
    expect((await api.get(`workspaces/${id}/runs`)).body.data).toEqual([]);
    expect((await api.get(`runs/${runIdOf(body.data.id)}`)).status).toBe(404);
  });

  it('is listed by page, with its creator', async () => {
    const { id, version } = await help.ready();
    const ids = [];
    for (const generate of [true, false]) {
      const { body } = await start(id, { 'generate-config-out': generate }, version);
      ids.unshift(body.data.id);
    }
    const { body } = await api.get(`workspaces/${id}/queries?include=created-by,configuration_version`);
    expect(body.data.map((one: { id: string }) => one.id)).toEqual(ids);
    expect(body.included.map(({ type }: { type: string }) => type)).toEqual(['users', 'configuration-versions']);
    expect((await api.get(`workspaces/${id}/queries?page[number]=999`)).body).toMatchObject({
      data: [],
      meta: { pagination: { 'current-page': 999, 'total-count': 2 } },
    });
  });

  it('is canceled', async () => {
    const { id } = await help.ready();
    const { body } = await start(id);
    const path = `queries/${body.data.id}`;
    expect((await api.call('POST', `${path}/actions/force-cancel`)).status).toBe(409);
    expect((await api.call('POST', `${path}/actions/cancel`)).status).toBe(202);
    await finishRun(runIdOf(body.data.id), 'Canceled');
    expect((await api.get(path)).body.data).toMatchObject({
      attributes: { status: 'canceled' },
      relationships: { 'canceled-by': { data: { id: api.userId } } },
    });
    expect((await api.call('POST', `${path}/actions/cancel`)).status).toBe(409);
  });

  it.each([
    [{ 'terraform-version': '1.13.3' }, {}, '/data/relationships/workspace'],
    [{}, { 'terraform-version': '1.9.0' }, '/data/attributes/terraform-version'],
    [{ engine: 'tofu' }, {}, '/data/relationships/workspace'],
    [{ 'execution-mode': 'local' }, {}, '/data/relationships/workspace'],
    [{}, { 'target-addrs': ['a.b'] }, '/data/attributes/target-addrs'],
    [{}, { source: 'tfe-module' }, '/data/attributes/source'],
  ])('is rejected where queries are not supported: %j %j', async (workspace, attributes, pointer) => {
    const { id } = await help.ready(workspace);
    const { status, body } = await start(id, attributes);
    expect([status, body.errors[0].source.pointer]).toEqual([422, pointer]);
  });

  it("has the client's source, or without one the request's", async () => {
    const { id, version } = await help.ready();
    const sources = [];
    for (const source of ['terraform', null]) {
      const { body } = await start(id, { source }, version);
      sources.push(body.data.attributes.source);
    }
    expect(sources).toEqual(['terraform', 'tfe-api']);
  });

  it('requires permission to plan, and reading it permission to read runs', async () => {
    const { id } = await help.ready();
    const { body } = await start(id);
    const [planner, reader] = [await help.user('plan'), await help.user('read')];
    const create = async ({ token }: { token: string }) => (await api.post('queries', {}, on(id), { token })).status;
    expect([await create(planner), await create(reader)]).toEqual([201, 403]);
    expect((await api.get(`queries/${body.data.id}`, { token: reader.token })).status).toBe(200);
    expect((await api.get('queries/query-1234567890123456')).status).toBe(404);
    expect((await api.get(`queries/${runIdOf(body.data.id)}`)).status).toBe(404);
  });
});
