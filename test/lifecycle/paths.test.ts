import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { NewRun } from '#lifecycle/creation/new-run.ts';
import type { Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';
import { startAws, taskArnOf } from '#test/support/aws.ts';
import { LifecycleWorld } from '#test/support/lifecycle-world.ts';
import { newRunOptions } from '#test/support/run.ts';

/** The states that typical runs enter, with the functions behind them: what an operator reads in the console. */

const aws = await startAws();

let ids = 0;

const create = async (world: LifecycleWorld, change: Partial<NewRun> = {}): Promise<string> => {
  const { organization, workspaceId, store } = world;
  const id = `run-${String(++ids).padStart(16, '0')}`;
  const planOnly = change.planOnly ?? false;
  const { stages } = await store.freezeTaskStages({ runId: id, organization, workspaceId, planOnly });
  const tasks = Object.keys(stages).length ? { tasks: stages } : undefined;
  const checks = { ...tasks, ...change.checks };
  const options = newRunOptions({ ...change, id });
  await store.createRun(workspaceId, Object.keys(checks).length ? { ...options, checks } : options);
  world.listen();
  return id;
};

/**
 * Machine, runners and run tasks do their next steps until the run waits for a user, has ended, or is in the state
 * `until`.
 */
const advance = async (world: LifecycleWorld, id: string, until: (run: Run) => boolean = () => false): Promise<Run> => {
  for (let before = ''; ; ) {
    const execution = world.executions.get(id);
    const run = (await world.run(id)) as Run;
    if (until(run) || isFinal(run.status)) return run;
    if (execution?.ready.length) await execution.step(0);
    else if (run.wait && !run.wait.token) await world.callBack(run, 0, 'passed');
    else await world.runner(run, 'finished', true);
    world.listen();
    const after = JSON.stringify([await world.run(id), execution?.ready, execution?.waiting]);
    if (after === before) return run;
    before = after;
  }
};

const confirm = async (world: LifecycleWorld, id: string): Promise<void> => {
  expect(await world.store.decide((await world.run(id)) as Run, 'apply', 'user-1')).toBe('accepted');
  world.listen();
};

const pathOf = (world: LifecycleWorld, id: string): string[] => world.executions.get(id)?.entered ?? [];

describe('the path of a run', () => {
  it('that applies automatically in a free workspace', async () => {
    const world = await LifecycleWorld.open(aws);
    const id = await create(world, { autoApply: true });
    expect((await advance(world, id)).status).toBe('applied');
    expect(pathOf(world, id)).toEqual([
      'AfterCreation',
      'PlanQueued',
      'Planning',
      'AfterPlanning',
      'Applying',
      'AfterApplying',
      'Applied',
    ]);
  });

  it('that is confirmed while its runner is ready, and of the run that waits behind it', async () => {
    const world = await LifecycleWorld.open(aws);
    world.readySeconds = 60;
    const [id, behind] = [await create(world), await create(world, { autoApply: true })];
    await advance(world, behind);
    await advance(world, id);
    await confirm(world, id);
    world.around = async (state, call) => {
      const called = call();
      while (state === 'ApplyQueued' && !(await world.claimReserved((await world.run(id)) as Run)))
        await setImmediate();
      return called;
    };
    const applied = await advance(world, id);
    world.around = (_, call) => call();
    expect([applied.status, applied.apply.taskId]).toEqual(['applied', applied.plan.taskId]);
    expect(pathOf(world, id)).toEqual([
      'AfterCreation',
      'PlanQueued',
      'Planning',
      'AfterPlanning',
      'NeedsConfirmation',
      'AfterConfirmation',
      'ApplyQueued',
      'Applying',
      'AfterApplying',
      'Applied',
    ]);
    expect((await advance(world, behind)).status).toBe('applied');
    expect(pathOf(world, behind).slice(0, 4)).toEqual(['AfterCreation', 'Pending', 'AfterPending', 'PlanQueued']);
  });

  it('that is confirmed after its runner has stopped starts another runner', async () => {
    const world = await LifecycleWorld.open(aws);
    world.readySeconds = 60;
    const id = await create(world);
    const run = await advance(world, id);
    const { handler: runnerStopped } = await import('#lifecycle/runners/runner-stopped.ts');
    await runnerStopped({ detail: { taskArn: taskArnOf(run.plan.taskId as string), startedBy: id } });
    await confirm(world, id);
    expect((await advance(world, id)).status).toBe('applied');
    expect(pathOf(world, id).slice(-6)).toEqual([
      'NeedsConfirmation',
      'AfterConfirmation',
      'ApplyQueued',
      'Applying',
      'AfterApplying',
      'Applied',
    ]);
  });

  it('with run tasks at every stage', async () => {
    const world = await LifecycleWorld.open(aws);
    await world.addTask('task', 'mandatory');
    const id = await create(world, { autoApply: true });
    expect((await advance(world, id)).status).toBe('applied');
    const path = pathOf(world, id);
    expect(path.filter((name) => !name.startsWith('After'))).toEqual([
      'Pending',
      'PrePlanTasks',
      'PrePlanTask',
      'PrePlanTasksDone',
      'PlanQueued',
      'Planning',
      'PostPlanTasks',
      'PostPlanTask',
      'PostPlanTasksDone',
      'PreApplyTasks',
      'PreApplyTask',
      'PreApplyTasksDone',
      'ApplyQueued',
      'Applying',
      'PostApplyTasks',
      'PostApplyTask',
      'PostApplyTasksDone',
      'Applied',
    ]);
  });

  it('with a saved plan', async () => {
    const world = await LifecycleWorld.open(aws);
    const id = await create(world, { savePlan: true });
    await advance(world, id);
    await confirm(world, id);
    expect((await advance(world, id)).status).toBe('applied');
    expect(pathOf(world, id).slice(4)).toEqual([
      'PlannedAndSaved',
      'Confirmed',
      'AfterConfirmation',
      'ApplyQueued',
      'Applying',
      'AfterApplying',
      'Applied',
    ]);
  });
});

describe('an automatic apply whose author loses the permission', () => {
  const lose = ({ organization, store }: LifecycleWorld) => store.removeMember({ organization, userId: 'user-1' });
  const regain = (world: LifecycleWorld) => world.store.addMember(world.organization, 'user-1', 'owner');

  it.each<[string, Partial<NewRun>]>([
    ['during its plan', {}],
    ['before a check', { checks: { policyCheck: true } }],
    ['before a cost estimate', { costEstimate: { status: 'pending', statusTimestamps: {} } }],
  ])('%s waits for a confirmation', async (_, change) => {
    const world = await LifecycleWorld.open(aws);
    const id = await create(world, { autoApply: true, ...change });
    await advance(world, id, ({ status }) => status === 'planning');
    await lose(world);
    const run = await advance(world, id);
    expect([run.wait?.state, run.appliesFor, run.autoApply]).toEqual(['NeedsConfirmation', undefined, false]);
    expect(pathOf(world, id).at(-1)).toBe('NeedsConfirmation');
    await regain(world);
    await confirm(world, id);
    expect((await advance(world, id)).status).toBe('applied');
  });

  it('before overriding a policy waits for another user', async () => {
    const world = await LifecycleWorld.open(aws);
    world.verdict = 1;
    const id = await create(world, { autoApply: true, checks: { policyCheck: true } });
    const run = await advance(world, id);
    expect(run.wait?.state).toBe('PolicyOverride');
    await lose(world);
    expect(await world.store.decide(run, 'override', 'user-2', 'it is fine', 'policyCheck')).toBe('accepted');
    world.listen();
    expect((await advance(world, id)).wait?.state).toBe('NeedsConfirmation');
  });

  it('during pre-apply run tasks waits for a confirmation after them', async () => {
    const world = await LifecycleWorld.open(aws);
    await world.addTask('task', 'mandatory');
    const id = await create(world, { autoApply: true });
    await advance(world, id, ({ status }) => status === 'pre_apply_running');
    await lose(world);
    const run = await advance(world, id);
    expect(run.wait?.state).toBe('NeedsConfirmation');
    expect(pathOf(world, id).at(-1)).toBe('NeedsConfirmationAfterTasks');
    await regain(world);
    await confirm(world, id);
    expect((await advance(world, id)).status).toBe('applied');
    expect(pathOf(world, id).filter((name) => name === 'PreApplyTasks')).toHaveLength(1);
  });
});
