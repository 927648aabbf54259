import { describe, expect, it } from 'vitest';
import type { TaskStage } from '#run/check-record.ts';
import { readTaskStageId } from '#run/task-stages.ts';
import { startAws } from '#test/support/aws.ts';

const aws = await startAws();
const tasks = await import('#resources/run-tasks/records.ts');
const ofWorkspaces = await import('#resources/run-tasks/workspace-tasks.ts');
const stages = await import('#resources/run-tasks/stages.ts');
const results = await import('#resources/run-tasks/results.ts');

let n = 0;
const organization = () => `org-${++n}`;
const runId = () => `run-${String(++n).padStart(16, 'a')}`;

const noGlobal = { enabled: false, stages: [] as TaskStage[], enforcementLevel: 'advisory' as const };
const make = async (org: string, change: Partial<Parameters<typeof tasks.createTask>[1]> = {}) => {
  const settings = { name: `task-${++n}`, url: 'https://a.test', description: null, enabled: true, global: noGlobal };
  const task = await tasks.createTask(org, { ...settings, ...change });
  if (!task) throw new Error('name taken');
  return task;
};
const facts = (org: string, change = {}) => ({
  runId: runId(),
  organization: org,
  workspaceId: `ws-${n}`,
  planOnly: false,
  ...change,
});

describe('fixing the tasks of a run', () => {
  it('costs two queries and no write without tasks', async () => {
    const { calls } = aws;
    expect(await stages.freezeTaskStages(facts(organization()))).toEqual({ stages: {} });
    expect(aws.calls - calls).toBe(2);
  });

  it('uses the enabled tasks of the workspace and the organization, by stage', async () => {
    const org = organization();
    const run = facts(org);
    const own = await make(org, { name: 'b' });
    const disabled = await make(org, { enabled: false });
    const global = await make(org, {
      name: 'a',
      global: { enabled: true, stages: ['post_plan'], enforcementLevel: 'mandatory' },
    });
    await make(org);
    for (const { id } of [own, disabled]) {
      const settings = { stages: ['pre_plan', 'post_plan'] as TaskStage[], enforcementLevel: 'advisory' as const };
      await ofWorkspaces.createWorkspaceTask(run.workspaceId, id, settings);
    }
    const frozen = (await stages.freezeTaskStages(run)).stages;
    expect(Object.keys(frozen)).toEqual(['pre_plan', 'post_plan']);
    const match = await stages.listTaskResults({ ...asRun(run.runId), checks: { tasks: frozen } });
    expect(
      match.map(({ stage, taskId, enforcementLevel, status }) => [stage, taskId, enforcementLevel, status]),
    ).toEqual([
      ['pre_plan', own.id, 'advisory', 'pending'],
      ['post_plan', global.id, 'mandatory', 'pending'],
      ['post_plan', own.id, 'advisory', 'pending'],
    ]);
    expect(readTaskStageId(frozen.post_plan?.id ?? '')).toEqual({ runId: run.runId, stage: 'post_plan' });
  });

  it('calls a task once per stage, at its strictest enforcement level', async () => {
    const org = organization();
    const run = facts(org);
    const { id } = await make(org, {
      global: { enabled: true, stages: ['post_plan'], enforcementLevel: 'advisory' },
    });
    await ofWorkspaces.createWorkspaceTask(run.workspaceId, id, {
      stages: ['post_plan'],
      enforcementLevel: 'mandatory',
    });
    const frozen = (await stages.freezeTaskStages(run)).stages;
    const match = await stages.listTaskResults({ ...asRun(run.runId), checks: { tasks: frozen } });
    expect(match.map(({ enforcementLevel }) => enforcementLevel)).toEqual(['mandatory']);
  });

  it('leaves out stages that a plan-only run never reaches', async () => {
    const org = organization();
    await make(org, {
      global: { enabled: true, stages: ['pre_plan', 'pre_apply', 'post_apply'], enforcementLevel: 'advisory' },
    });
    const { stages: frozen } = await stages.freezeTaskStages(facts(org, { planOnly: true }));
    expect(Object.keys(frozen)).toEqual(['pre_plan']);
  });

  it('can be repeated and interrupted anywhere, and overwrites nothing', async () => {
    const org = organization();
    const run = facts(org);
    for (let i = 0; i < 3; i++) {
      await make(org, { global: { enabled: true, stages: ['pre_plan', 'post_plan'], enforcementLevel: 'mandatory' } });
    }
    for (const when of ['before', 'after'] as const) {
      for (const call of [3, 4, 5, 6, 7]) {
        aws.failCall(call, when);
        await stages.freezeTaskStages(run).catch(() => {});
      }
    }
    aws.failCall(Number.POSITIVE_INFINITY, 'before');
    const first = (await stages.freezeTaskStages(run)).stages;
    const [result] = await stages.listTaskResults({ ...asRun(run.runId), checks: { tasks: first } });
    if (!result) throw new Error('no result');
    await results.changeTaskResult(result, 'passed', { message: 'fine' });
    expect((await stages.freezeTaskStages(run)).stages).toEqual(first);
    const again = await stages.listTaskResults({ ...asRun(run.runId), checks: { tasks: first } });
    expect(again).toHaveLength(6);
    expect(again[0]).toMatchObject({ status: 'passed', message: 'fine' });
  });

  it('allows 50 tasks in a stage', async () => {
    const org = organization();
    for (let i = 0; i < 50; i++) {
      await make(org, { global: { enabled: true, stages: ['post_plan'], enforcementLevel: 'mandatory' } });
    }
    const run = facts(org);
    const { stages: frozen } = await stages.freezeTaskStages(run);
    expect(new Set(frozen.post_plan?.taskResultIds).size).toBe(50);
    expect(await stages.listTaskResults({ ...asRun(run.runId), checks: { tasks: frozen } }, 'post_plan')).toHaveLength(
      50,
    );
  });
});

const asRun = (id: string) => ({ id, status: 'planning' as const, statusTimestamps: {} });

describe('tokens of a run’s tasks', () => {
  it('belong to results that executions wait for', async () => {
    const org = organization();
    const run = facts(org);
    for (const name of ['a', 'b', 'c']) {
      await make(org, { name, global: { enabled: true, stages: ['pre_plan'], enforcementLevel: 'mandatory' } });
    }
    const ids = (await stages.freezeTaskStages(run)).stages.pre_plan?.taskResultIds ?? [];
    expect(await stages.openTaskTokens({ id: run.runId })).toEqual([]);
    const [a, b] = ids as [string, string];
    await results.awaitResult(a, { token: 'token-a' });
    await results.awaitResult(b, { token: 'token-b' });
    await results.settleResult(b, 'errored');
    expect(await stages.openTaskTokens({ id: run.runId })).toEqual(['token-a']);
  });

  it('come with an access token of the result, which is stored as a digest', async () => {
    const org = organization();
    const run = facts(org);
    for (const name of ['a', 'b']) {
      await make(org, { name, global: { enabled: true, stages: ['pre_plan'], enforcementLevel: 'mandatory' } });
    }
    const [a = '', b = ''] = (await stages.freezeTaskStages(run)).stages.pre_plan?.taskResultIds ?? [];
    const first = await results.awaitResult(a, { token: 'token-1' });
    const second = await results.awaitResult(a, { token: 'token-2' });
    const ofB = await results.awaitResult(b, { token: 'token-3' });
    for (const task of [first, second]) {
      const match = await results.findResultOfAccessToken(task?.accessToken ?? '');
      expect([match?.id, match?.token]).toEqual([a, 'token-2']);
    }
    expect(JSON.stringify([...(second?.result.accessTokenHashes ?? [])])).not.toContain(second?.accessToken);
    const secretOfA = first?.accessToken.split('.')[1];
    const forged = `${ofB?.accessToken.split('.')[0]}.${secretOfA}`;
    expect(await results.findResultOfAccessToken(forged)).toBeUndefined();
    expect(await results.awaitResult('taskrs-aaaaaaaaaaaaaaaa1unknown1', { token: 't' })).toBeUndefined();
  });
});
