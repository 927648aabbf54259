import fc from 'fast-check';
import { afterEach, expect, it, vi } from 'vitest';
import type { Checks } from '#run/check-record.ts';
import type { Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';
import { startAws } from '#test/support/aws.ts';
import { LifecycleWorld } from '#test/support/lifecycle-world.ts';
import { newRunOptions } from '#test/support/run.ts';

/**
 * Complete lifecycles of runs, with every stage, under random orders of actions by users, runners, run tasks and
 * clocks. Each action may be repeated and be interrupted at a random call to AWS, before or after the call took
 * effect.
 */

const aws = await startAws();
// The sweep warns of each repair, and logs repairs that fail.
vi.spyOn(console, 'warn').mockImplementation(() => {});
vi.spyOn(console, 'error').mockImplementation(() => {});
afterEach(() => {
  aws.stale = false;
});

const kinds = fc.record({
  planOnly: fc.boolean(),
  savePlan: fc.boolean(),
  autoApply: fc.boolean(),
  allowEmptyApply: fc.boolean(),
  policyEvaluation: fc.boolean(),
  policyCheck: fc.boolean(),
  costEstimate: fc.boolean(),
});
type Kind = typeof kinds extends fc.Arbitrary<infer K> ? K : never;

const steps = fc.record({
  do: fc.oneof(
    { weight: 12, arbitrary: fc.constant('step' as const) },
    { weight: 5, arbitrary: fc.constantFrom('runner' as const, 'task' as const) },
    { weight: 3, arbitrary: fc.constantFrom('confirm' as const, 'override' as const) },
    { weight: 1, arbitrary: fc.constantFrom('cancel' as const, 'discard' as const, 'force' as const) },
    { weight: 1, arbitrary: fc.constantFrom('time out' as const, 'sweep' as const) },
  ),
  which: fc.nat(30),
  /** Outcome of the action; 0 lets the run continue. */
  how: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(8) }),
  cut: fc.option(
    fc.record({ after: fc.integer({ min: 1, max: 8 }), when: fc.constantFrom('before' as const, 'after' as const) }),
    { freq: 4, nil: undefined },
  ),
});
type Step = typeof steps extends fc.Arbitrary<infer S> ? S : never;

let ids = 0;

const createRun = async (world: LifecycleWorld, kind: Kind): Promise<void> => {
  const { planOnly, savePlan, autoApply, allowEmptyApply, policyCheck, policyEvaluation, costEstimate } = kind;
  const id = `run-${String(++ids).padStart(16, '0')}`;
  const { organization, workspaceId, store } = world;
  const { stages } = await store.freezeTaskStages({ runId: id, organization, workspaceId, planOnly });
  const checks: Checks = {
    ...(Object.keys(stages).length ? { tasks: stages } : {}),
    ...(policyEvaluation ? { policyEvaluation } : {}),
    ...(policyCheck ? { policyCheck } : {}),
  };
  await store.createRun(
    workspaceId,
    newRunOptions({
      id,
      planOnly,
      savePlan: savePlan && !planOnly,
      autoApply: autoApply && !planOnly && !savePlan,
      allowEmptyApply,
      ...(Object.keys(checks).length ? { checks } : {}),
      ...(costEstimate ? { costEstimate: { status: 'pending', statusTimestamps: {} } } : {}),
    }),
  );
  world.listen();
};

/**
 * Takes a step on one of the given runs. Ignores the injected error: the sweep must repair an interrupted step.
 */
const take = async (world: LifecycleWorld, runs: Run[], { do: what, which, how, cut }: Step): Promise<void> => {
  const run = runs[which % Math.max(1, runs.length)];
  const execution = run && world.executions.get(run.id);
  if (!run || !execution) return;
  const { store } = world;
  world.verdict = how;
  if (cut) aws.failCall(cut.after, cut.when);
  try {
    switch (what) {
      case 'step':
        return await execution.step(which);
      case 'runner':
        return await world.runner(run, (['finished', 'errored', 'canceled'] as const)[how] ?? 'finished', how !== 4);
      case 'task':
        return await world.callBack(run, which, how === 1 ? 'failed' : 'passed');
      case 'time out':
        return execution.timeOut(which, how % 2 === 1);
      case 'sweep':
        return await world.sweep();
      case 'confirm':
        return void (await store.decide(run, 'apply', 'user-1'));
      case 'override':
        for (const policies of ['policyEvaluation', 'policyCheck'] as const)
          await store.decide(run, 'override', 'user-2', 'it is fine', policies);
        return;
      case 'discard':
        return void (await store.decide(run, 'discard', 'user-1'));
      case 'cancel':
        return void (await store.decide(run, 'cancel', 'user-1'));
      case 'force':
        return void (await store.decide(run, 'force-cancel', 'user-1'));
    }
  } catch (error) {
    // The caller gets the error, or the function is retried.
    if (!cut) throw error;
  } finally {
    aws.failCall(0, 'before');
    world.listen();
  }
};

/** Machine, runners, run tasks and users do their next steps until nothing changes any more. */
const rest = async (world: LifecycleWorld): Promise<void> => {
  for (let before = ''; ; ) {
    for (const run of await world.runs()) {
      const which = (await world.runs()).findIndex(({ id }) => id === run.id);
      for (const what of ['step', 'override', 'runner', 'task', 'confirm'] as const) {
        await take(world, await world.runs(), { do: what, which, how: 0, cut: undefined });
      }
    }
    const ready = [...world.executions.values()].map((one) => [one.ready, one.waiting]);
    const results = await Promise.all((await world.runs()).map((run) => world.store.listTaskResults(run)));
    const after = JSON.stringify([await world.runs(), ready, results]);
    if (after === before) return;
    before = after;
  }
};

/** Lets every run end. @param most maximum number of sweeps; 0 unless a step was interrupted */
const settle = async (world: LifecycleWorld, most: number): Promise<void> => {
  for (let sweeps = 0; ; sweeps++) {
    await rest(world);
    const open = [...world.executions.values()].filter(({ running }) => running);
    const runs = await world.runs();
    if (open.length === 0 && runs.every(({ status }) => isFinal(status))) return;
    if (sweeps === most) {
      const where = open.map((one) => `${one.name}: ready ${one.ready}, waiting ${one.waiting}`);
      throw new Error(
        `stuck after ${sweeps} sweeps: ${where.join('; ')}; ${runs.map(({ id, status }) => `${id} ${status}`)}`,
      );
    }
    await world.sweep();
  }
};

const applied = (run: Run): boolean => 'applying-at' in run.statusTimestamps;

/** Invariants for every order of events. */
const check = (run: Run): void => {
  const says = JSON.stringify(run);
  const { verdicts = {}, overrides = {}, checks = {} } = run;
  if (!applied(run)) {
    expect(run.status, says).not.toBe('applied');
    return;
  }
  expect(run.planOnly, says).toBe(false);
  expect(run.plan.report?.outcome, says).toBe('finished');
  if (!run.autoApply && run.plan.report?.hasChanges) expect(run.decision?.action, says).toBe('apply');
  if (checks.tasks?.pre_plan) expect(verdicts.pre_plan, says).toBe('passed');
  if (checks.tasks?.post_plan) expect(verdicts.post_plan, says).toBe('passed');
  if (checks.tasks?.pre_apply) expect(verdicts.pre_apply, says).toBe('passed');
  if (checks.policyEvaluation && verdicts.policyEvaluation !== 'passed') {
    expect(verdicts.policyEvaluation, says).toBe('overridable');
    expect(overrides.policyEvaluation, says).toBeDefined();
  }
  if (checks.policyCheck && verdicts.policyCheck !== 'passed') {
    expect(verdicts.policyCheck, says).toBe('soft_failed');
    expect(overrides.policyCheck, says).toBeDefined();
  }
};

it('every explored order of events ends all runs, frees the workspace and applies nothing unconfirmed', async () => {
  const visited = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(
      fc.array(kinds, { minLength: 1, maxLength: 3 }),
      fc.nat(2),
      fc.oneof(
        fc.array(steps, { minLength: 10, maxLength: 80 }),
        fc.array(
          steps.filter(({ do: what }) => what !== 'sweep').map((step) => ({ ...step, cut: undefined })),
          { minLength: 10, maxLength: 80 },
        ),
      ),
      // Half of the runs have stale reads where DynamoDB allows them.
      fc.boolean(),
      async (kinds, tasks, script, stale) => {
        aws.stale = stale;
        const world = await LifecycleWorld.open(aws);
        for (let i = 0; i < tasks; i++) await world.addTask(`task-${i}`, i === 0 ? 'mandatory' : 'advisory');
        for (const kind of kinds) await createRun(world, kind);
        const ended = new Map<string, string>();
        let runs = await world.runs();
        for (const step of script) {
          await take(world, runs, step);
          runs = await world.runs();
          expect(runs.filter(({ current, status }) => current && !isFinal(status)).length).toBeLessThanOrEqual(1);
          for (const run of runs) {
            if (ended.has(run.id)) expect(run.status, `${run.id} had ended`).toBe(ended.get(run.id));
            else if (isFinal(run.status)) ended.set(run.id, run.status);
          }
        }
        const isCalm = !stale && script.every(({ cut, do: what }) => !cut && what !== 'sweep');
        await settle(world, isCalm ? 0 : 8);
        for (const run of await world.runs()) {
          check(run);
          visited.set(run.status, (visited.get(run.status) ?? 0) + 1);
        }
        expect(
          await world.store.query({ pk: world.store.keys.workspace(world.workspaceId).pk, prefix: 'QUEUE#' }),
        ).toEqual([]);
        expect(await world.store.get(world.store.keys.workspace(world.workspaceId))).not.toHaveProperty('lock');
      },
    ),
    { numRuns: Number(process.env.LIFECYCLE_RUNS ?? 8), endOnFailure: process.env.LIFECYCLE_SHRINK === undefined },
  );
  console.log(`runs by how they ended: ${JSON.stringify(Object.fromEntries(visited))}; ${aws.calls} calls to AWS`);
}, 600_000);
