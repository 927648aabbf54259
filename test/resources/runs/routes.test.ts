import { describe, expect, it } from 'vitest';
import { startApi } from '#test/support/api.ts';
import { runHelpers } from '#test/support/runs.ts';

const api = await startApi();
const help = await runHelpers(api);

describe('reading a run', () => {
  it('includes requested relations, but never the run itself', async () => {
    const { id } = await help.ready();
    const run = await help.create(id);
    const include = 'plan,apply,created_by,configuration_version,workspace,task_stages,cost_estimate';
    const { body } = await api.get(`runs/${run.id}?include=${include}`);
    expect(body.included.map(({ type }: { type: string }) => type)).toEqual([
      'plans',
      'applies',
      'workspaces',
      'configuration-versions',
      'users',
    ]);
    const unknown = await api.get(`runs/${run.id}?include=plan,nonsense`);
    expect(unknown.status).toBe(400);
    expect(unknown.body.errors[0].detail).toContain('Invalid include parameter');
  });

  it('shows results together with the status that follows them', async () => {
    const { id } = await help.ready();
    const run = await help.create(id);
    const report = { outcome: 'finished' as const, hasChanges: true, counts: { additions: 2 }, artifacts: {} };
    await help.bring(run.id, { status: 'planning', 'plan.status': 'running', 'plan.report': report });
    const planId = run.relationships.plan.data.id;
    expect((await api.get(`runs/${run.id}`)).body.data.attributes['has-changes']).toBe(false);
    expect((await api.get(`plans/${planId}`)).body.data.attributes).toMatchObject({
      status: 'running',
      'resource-additions': null,
    });
    await help.bring(run.id, { status: 'planned', 'plan.status': 'finished' });
    expect((await api.get(`runs/${run.id}`)).body.data.attributes).toMatchObject({
      'has-changes': true,
      actions: { 'is-confirmable': true },
    });
    expect((await api.get(`plans/${planId}`)).body.data.attributes).toMatchObject({
      status: 'finished',
      'has-changes': true,
      'resource-additions': 2,
    });
  });

  it('never exposes internal fields', async () => {
    const { id } = await help.ready();
    const run = await help.create(id);
    await help.bring(run.id, { wait: { state: 'Planning', token: 'task-token' }, 'plan.tokenHash': 'token-hash' });
    const texts = await Promise.all(
      [`runs/${run.id}`, `runs/${run.id}/plan`, `workspaces/${id}/runs`].map((path) => api.get(path)),
    );
    for (const { body } of texts) expect(JSON.stringify(body)).not.toMatch(/task-token|token-hash|inputs\//);
  });
});
