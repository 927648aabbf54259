import { expect, it, vi } from 'vitest';
import type { CompleteTask } from '#lifecycle/states/complete.ts';
import type { Run } from '#run/run.ts';
import type { EnforcementLevel } from '#run/task-stages.ts';
import { startApi } from '#test/support/api.ts';
import { collectLog } from '#test/support/logged.ts';
import { runHelpers } from '#test/support/runs.ts';
import { taskHelpers } from '#test/support/task-stages.ts';

/** The last state of each run, and the states between plan and apply that can branch. */

const api = await startApi();
const runs = await runHelpers(api);
const store = {
  ...(await import('#resources/runs/records.ts')),
  ...(await import('#resources/workspaces/queue-entries.ts')),
  complete: (await import('#lifecycle/states/complete.ts')).handler,
  confirmed: (await import('#lifecycle/states/confirmed.ts')).handler,
  applyQueued: (await import('#lifecycle/states/apply-queued.ts')).handler,
  planQueued: (await import('#lifecycle/states/plan-queued.ts')).handler,
  stageDone: (await import('#lifecycle/states/task-stage-done.ts')).handler,
  ...(await import('#resources/run-tasks/results.ts')),
  joinQueue: (await import('#lifecycle/queue/queue.ts')).joinQueue,
};

const inState = async (change: Partial<Run>): Promise<Run> => {
  const { id } = await runs.create((await runs.ready()).id);
  await runs.bring(id, change as never);
  return (await store.getRun(id)) as Run;
};
const planning = (change: Partial<Run> = {}) => inState({ status: 'planning', ...change });
const end = async ({ id: runId }: Run, ending: CompleteTask['ending'], input: Partial<CompleteTask['run']> = {}) => {
  const result = await store.complete({ ending, run: { runId, ...input } });
  return { ...result, ended: (await store.getRun(runId)) as Run };
};

it('a missed heartbeat and a time limit end a run with different reasons', async () => {
  const late = { Error: 'States.Timeout', Cause: '' };
  const silent = await end(await planning(), 'PlanErrored', { error: late, missedHeartbeat: late });
  expect(silent.ended).toMatchObject({ status: 'errored' });
  expect(silent.ended.endReason).toMatch(/^The runner stopped answering during the plan/);
  const slow = await end(await planning(), 'PlanErrored', { error: late });
  expect(slow.ended.endReason).toMatch(/took longer than its time limit/);
});

it('a run that ends because of the platform is logged for the alarm, and others are not', async () => {
  const logged = collectLog('error');
  const fault = { Error: 'TypeError', Cause: 'x is undefined' };
  const { ended } = await end(await planning(), 'PlanErrored', { error: fault });
  expect(ended.endReason).toMatch(/^The platform failed to continue the run \(TypeError\)/);
  expect(logged.splice(0)).toMatchObject([
    { level: 'error', message: 'platform fault', runId: ended.id, cause: fault.Cause, error: fault.Error },
  ]);
  for (const name of ['TerraformFailed', 'ConfigurationFailed', 'States.Timeout'])
    await end(await planning(), 'PlanErrored', { error: { Error: name, Cause: '' } });
  await end(await planning(), 'Canceled', { error: { Error: 'Canceled', Cause: '' } });
  expect(logged).toEqual([]);
  vi.restoreAllMocks();
});

it('the end of a run sends notifications, and starts no run without run triggers', async () => {
  api.aws.invoked.length = 0;
  const run = await planning({ notifies: true });
  const { next } = await end(run, 'PlannedAndFinished');
  expect(next).toBe('Nothing');
  expect(api.aws.invoked).toMatchObject([
    { name: 'NotifyFunction', event: { runId: run.id, trigger: 'run:completed' } },
  ]);
  const missing = store.complete({ ending: 'Applied', run: { runId: 'run-aaaaaaaaaaaaaaaa' } });
  expect(await missing, 'a run that does not exist').toEqual({ next: 'Nothing' });
});

it('the end of a stop has its environment started again', async () => {
  const stop = await planning({ environment: 'build 1', restarts: true });
  expect((await end(stop, 'PlannedAndFinished')).next).toBe('StartsRuns');
});

it('an apply starts the runs that it triggers, and a run without changes does not', async () => {
  const source = await runs.ready();
  const follower = await runs.ready();
  const sourceable = { data: { type: 'workspaces', id: source.id } };
  const trigger = await api.post(`workspaces/${follower.id}/run-triggers`, {}, { sourceable });
  expect(trigger.status).toBe(201);
  const endAs = async (ending: CompleteTask['ending']) => {
    const { id } = await runs.create(source.id);
    const later = '2999-01-01T00:00:00.000Z';
    await runs.bring(id, { status: 'applying', dueAt: later, checkAt: later });
    const { next, ended } = await end({ id } as Run, ending);
    if (next === 'StartsRuns') expect(Date.parse(ended.dueAt ?? '')).toBeLessThan(Date.now() + 61_000);
    return next;
  };
  expect(await endAs('Applied')).toBe('StartsRuns');
  expect(await endAs('ApplyErrored')).toBe('Nothing');
  const other = await inState({ status: 'applying' });
  expect((await end(other, 'Applied')).next).toBe('Nothing');
});

it('only a confirmed saved plan that is not canceled and not current joins the queue', async () => {
  const by = { by: 'user-1', at: '' };
  const confirmed = { status: 'confirmed', decision: { action: 'apply', ...by } } as const;
  const isQueued = async (change: Partial<Run>): Promise<boolean> => {
    const { id } = await runs.create((await runs.ready()).id, { 'save-plan': true });
    await runs.bring(id, change as never);
    await store.confirmed({ runId: id, token: `${id}/1` });
    const run = (await store.getRun(id)) as Run;
    return (await store.firstQueued(run.workspaceId)) === id;
  };
  expect(await isQueued(confirmed), 'confirmed').toBe(true);
  expect(await isQueued({ ...confirmed, cancel: { ...by, forceAvailableAt: '' } }), 'canceled').toBe(false);
  expect(await isQueued({ ...confirmed, decision: { action: 'discard', ...by } }), 'discarded').toBe(false);
  expect(await isQueued({ ...confirmed, current: true }), 'its turn has come').toBe(false);
});

it('a confirmed plan that joins the queue a second time keeps its place', async () => {
  const { id } = await runs.create((await runs.ready()).id, { 'save-plan': true });
  await runs.bring(id, { status: 'confirmed' });
  await store.joinQueue((await store.getRun(id)) as Run);
  const { place, workspaceId } = (await store.getRun(id)) as Run;
  await store.joinQueue((await store.getRun(id)) as Run);
  expect((await store.firstEntries(workspaceId, 9)).map((entry) => entry.place)).toEqual([place]);
  expect(((await store.getRun(id)) as Run).place).toBe(place);
});

it('a run behind another cannot enter its plan, is not changed and gets no runner', async () => {
  const { id } = await runs.ready();
  const [first, second] = [await runs.create(id), await runs.create(id)];
  await store.planQueued({ runId: first.id, token: `${first.id}/1` });
  await expect(store.planQueued({ runId: second.id, token: `${second.id}/1` })).rejects.toThrow(
    'cannot enter PlanQueued',
  );
  const [ahead, behind] = [(await store.getRun(first.id)) as Run, (await store.getRun(second.id)) as Run];
  expect(ahead).toMatchObject({ status: 'plan_queued', current: true, wait: { state: 'PlanQueued' } });
  expect([behind.status, behind.wait, behind.current]).toEqual(['pending', undefined, undefined]);
  expect(api.aws.containers.filter(({ startedBy }) => startedBy === second.id)).toEqual([]);
});

it('a run that was discarded right before its apply gets no runner', async () => {
  const run = await inState({ status: 'planning', current: true });
  await runs.bring(run.id, { decision: { action: 'discard', by: 'user-1', at: '' } });
  await store.applyQueued({ runId: run.id, token: `${run.id}/1` });
  expect(((await store.getRun(run.id)) as Run).status).toBe('planning');
  expect(api.aws.containers.filter(({ startedBy }) => startedBy === run.id)).toEqual([]);
});

it('a failed stage of run tasks names the task', async () => {
  const help = await taskHelpers();
  const stageOf = async (status: 'passed' | 'failed', level: EnforcementLevel = 'mandatory') => {
    const run = await inState({ status: 'post_plan_running', verdicts: {} });
    const task = await help.task({ url: 'https://192.0.2.1/' });
    const { result } = await help.stageOf(run.id, task.id, 'post_plan', level);
    const found = await store.getTaskResult(result);
    if (found) await store.changeTaskResult(found, status);
    await store.stageDone({ runId: run.id, stage: 'post_plan' });
    const { failure, failedTasks, verdicts } = (await store.getRun(run.id)) as Run;
    return { name: task.name, failure, failedTasks, verdict: verdicts?.post_plan };
  };
  const failed = await stageOf('failed');
  expect(failed).toMatchObject({
    verdict: 'failed',
    failure: `The run failed because the run task "${failed.name}" is required to succeed.`,
    failedTasks: [failed.name],
  });
  const warned = { verdict: 'passed', failure: undefined, failedTasks: undefined };
  expect(await stageOf('failed', 'advisory'), 'an advisory task only warns').toMatchObject(warned);
  expect(await stageOf('passed')).toMatchObject({ verdict: 'passed', failure: undefined });
  await expect(store.stageDone({ runId: 'run-aaaaaaaaaaaaaaaa', stage: 'post_plan' })).rejects.toThrow('unknown');
});
