import { describe, expect, it } from 'vitest';
import type { Run } from '#run/run.ts';
import { altered } from '#test/support/altered-text.ts';
import { detailOf, startApi } from '#test/support/api.ts';
import { runHelpers } from '#test/support/runs.ts';
import { taskHelpers } from '#test/support/task-stages.ts';

const api = await startApi();
const runs = await runHelpers(api);
const help = await taskHelpers();

/** A run at its post-plan stage, which has one task. */
const asking = async () => {
  const run = await runs.create((await runs.ready()).id);
  const task = await help.task({ name: `scan-${run.id.slice(-6)}` });
  const stage = await help.stageOf(run.id, task.id);
  await runs.bring(run.id, {
    status: 'post_plan_running',
    'statusTimestamps.post-plan-running-at': '2026-01-01T00:00:01.000Z',
  });
  return { run: run.id as string, task, ...stage };
};

const include = '?include=task_results,policy_evaluations';

describe('task stages', () => {
  it('are related to their run and included on request', async () => {
    const { run, stage } = await asking();
    const { data, included } = (await api.get(`runs/${run}?include=task_stages`)).body;
    expect(data.relationships['task-stages'].data).toEqual([{ type: 'task-stages', id: stage }]);
    expect(included.map(({ type, id }: { type: string; id: string }) => [type, id])).toEqual([['task-stages', stage]]);
    expect((await api.get(`runs/${run}/task-stages`)).body.data).toEqual(included);
  });

  it('have the format that the command line reads', async () => {
    const { run, stage, result, task } = await asking();
    const { data, included } = (await api.get(`task-stages/${stage}${include}`)).body;
    expect(data).toMatchObject({
      id: stage,
      type: 'task-stages',
      attributes: {
        status: 'running',
        stage: 'post_plan',
        'status-timestamps': { 'running-at': '2026-01-01T00:00:01.000Z' },
        actions: { 'is-overridable': false },
        permissions: { 'can-override-policy': true, 'can-override-tasks': false, 'can-override': true },
      },
      relationships: {
        run: { data: { type: 'runs', id: run } },
        'task-results': { data: [{ type: 'task-results', id: result }] },
        'policy-evaluations': { data: [] },
      },
    });
    expect(included).toEqual([
      expect.objectContaining({
        id: result,
        type: 'task-results',
        attributes: expect.objectContaining({
          status: 'pending',
          'task-name': task.name,
          'task-id': task.id,
          'task-url': task.url,
          stage: 'post_plan',
          message: null,
          url: null,
          'is-speculative': false,
          'workspace-task-enforcement-level': 'mandatory',
          'task-result-outcomes-count': 0,
        }),
      }),
    ]);
    expect((await api.get(`task-results/${result}`)).body.data).toEqual(included[0]);
  });

  it('include their run and its workspace without a cycle', async () => {
    const { run, stage } = await asking();
    const { included } = (await api.get(`task-stages/${stage}?include=run,run.workspace,task_results`)).body;
    expect(included.map(({ type }: { type: string }) => type).sort()).toEqual(['runs', 'task-results', 'workspaces']);
    const ofType = (type: string) => included.find((one: { type: string }) => one.type === type);
    expect(ofType('runs').id).toBe(run);
    expect(JSON.stringify(ofType('workspaces').relationships)).not.toContain(run);
    expect(JSON.stringify(ofType('runs').relationships)).not.toContain(stage);
    expect((await api.get(`task-stages/${stage}?include=apply`)).status).toBe(400);
  });

  it('show a canceled run, and a run that never reached them', async () => {
    const [reached, before] = [await asking(), await asking()];
    await runs.bring(before.run, { statusTimestamps: {} });
    for (const { run } of [reached, before]) await runs.bring(run, { status: 'canceled' } as Partial<Run>);
    const shown = async (stage: string) => {
      const { data, included } = (await api.get(`task-stages/${stage}${include}`)).body;
      return [data.attributes.status, included[0].attributes.status];
    };
    expect(await shown(reached.stage)).toEqual(['canceled', 'canceled']);
    expect(await shown(before.stage)).toEqual(['unreachable', 'unreachable']);
  });

  it('cannot be overridden unless they await it', async () => {
    const { stage } = await asking();
    const answer = await api.call('POST', `task-stages/${stage}/actions/override`, { body: {} });
    expect(detailOf(answer)).toEqual([409, expect.stringContaining('is running')]);
  });

  it('are overridden while they await it, by users with the permission', async () => {
    const { run, stage } = await asking();
    const writer = await runs.user('write');
    await runs.bring(run, {
      status: 'post_plan_awaiting_decision',
      verdicts: { post_plan: 'passed', policyEvaluation: 'overridable' },
      overrides: {},
    });
    const { attributes } = (await api.get(`task-stages/${stage}`, { token: writer.token })).body.data;
    expect(attributes).toMatchObject({
      status: 'awaiting_override',
      actions: { 'is-overridable': true },
      permissions: { 'can-override-policy': false },
    });
    const override = (token?: string) =>
      api.call('POST', `task-stages/${stage}/actions/override`, { token, body: { comment: 'known' } });
    expect((await override(writer.token)).status).toBe(403);
    for (let i = 0; i < 2; i++) {
      const answer = await override();
      expect([answer.status, answer.body.data.id]).toEqual([200, stage]);
    }
    const { getRun } = await import('#resources/runs/records.ts');
    expect((await getRun(run))?.overrides).toMatchObject({
      policyEvaluation: { by: api.userId, comment: 'known' },
    });
    // A later wait needs another decision.
    await runs.bring(run, { status: 'policy_override' });
    await override();
    expect((await getRun(run))?.overrides?.policyCheck).toBeUndefined();
  });

  it('never expose internal fields', async () => {
    const { run, stage, result } = await asking();
    const { token, accessToken } = await help.ask(result, 'the task token');
    const paths = [`runs/${run}?include=task_stages`, `task-stages/${stage}${include}`, `task-results/${result}`];
    for (const path of paths) {
      const text = JSON.stringify((await api.get(path)).body);
      expect(text).not.toContain(token);
      expect(text).not.toContain(accessToken.split('.')[1]);
      expect(text).not.toMatch(/[0-9a-f]{64}/);
    }
  });

  it('of another run, and results that no run lists, are 404', async () => {
    const { stage, result } = await asking();
    for (const path of [
      `task-stages/${altered(stage)}`,
      `task-results/${altered(result)}`,
      'task-results/taskrs-1',
      'task-result-outcomes/tro-1',
    ]) {
      expect([path, (await api.get(path)).status]).toEqual([path, 404]);
    }
  });
});
