import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { AwsError } from '#infra/local/host/errors.ts';
import type { Run } from '#run/run.ts';
import { type StartedContainer, startAws, taskArnOf } from '#test/support/aws.ts';
import { newRun } from '#test/support/run.ts';

/**
 * A function that starts or stops a container can crash at any moment: every container stays known, and no run waits
 * for a missing one.
 */

const aws = await startAws();
const store = {
  ...(await import('#resources/users/memberships.ts')),
  ...(await import('#resources/runs/records.ts')),
  ...(await import('#resources/runs/events.ts')),
  ...(await import('#lifecycle/phases/phases.ts')),
  ...(await import('#lifecycle/phases/finish.ts')),
  ...(await import('#platform/store/due.ts')),
  ...(await import('#platform/store/table.ts')),
  ...(await import('#platform/store/keys.ts')),
  ...(await import('#lifecycle/decisions/decisions.ts')),
  applyQueued: (await import('#lifecycle/states/apply-queued.ts')).handler,
  fetching: (await import('#lifecycle/states/fetching.ts')).handler,
  planQueued: (await import('#lifecycle/states/plan-queued.ts')).handler,
  runnerStopped: (await import('#lifecycle/runners/runner-stopped.ts')).handler,
  sweep: (await import('#lifecycle/repair/sweep.ts')).handler,
};
afterEach(() => void vi.restoreAllMocks());

let count = 0;
let run: Run;
const open = async (set: Partial<Run>): Promise<Run> => {
  run = newRun({ id: `run-${String(++count).padStart(16, '0')}`, workspaceId: `ws-${count}`, ...set });
  const { organization, workspaceId: id } = run;
  await store.create({ ...store.keys.workspace(id), id, organization, runCount: 1 });
  await store.create({ ...store.keys.run(run.id), ...run });
  return run;
};
const now = async () => (await store.getRun(run.id)) as Run;
const containers = () => aws.containers.filter(({ startedBy }) => startedBy === run.id);
const claim = ({ environment }: StartedContainer, nonce: string) =>
  store.claimPhase(environment.STEPFORM_CLAIM as string, nonce);
const planQueued = () => store.planQueued({ runId: run.id, token: `${run.id} token` });

beforeEach(() => {
  aws.failCall(0, 'before');
  aws.refusal = undefined;
});

it('the claim of a container that could not be recorded is void', async () => {
  await open({ status: 'pending', current: true });
  // Read, RunTask, and the write fails.
  aws.failCall(3, 'before');
  await expect(planQueued()).rejects.toThrow();
  const [lost] = containers() as [StartedContainer];
  await expect(claim(lost, 'nonce')).rejects.toMatchObject({ name: 'NotStartedError' });
  await planQueued();
  const [, container] = containers() as [StartedContainer, StartedContainer];
  expect(await claim(lost, 'nonce')).toBeUndefined();
  expect(await claim(container, 'nonce')).toBeDefined();
  expect((await now()).plan).toMatchObject({ claimNonce: 'nonce', taskId: container.taskId });
});

it('a container that an older version started without recording it is stopped when its run ends', async () => {
  await open({ status: 'pending', current: true });
  await planQueued();
  await store.update(store.keys.run(run.id), { remove: ['plan.taskId'] });
  expect(await claim(containers()[0] as StartedContainer, 'nonce')).toBeDefined();
  await store.finishRun(run.id, 'PlanErrored', { Error: 'States.HeartbeatTimeout' });
  expect(containers()).toMatchObject([{ stopped: true }]);
  expect((await now()).status).toBe('errored');
});

it('a run that was canceled during its start leaves no container', async () => {
  await open({ status: 'pending', current: true });
  aws.gate = async () => {
    if (containers().length === 0) return;
    aws.gate = undefined;
    expect(await store.decide(await now(), 'cancel', 'user-1')).toBe('accepted');
  };
  await planQueued();
  expect((await now()).cancel).toBeDefined();
  expect(aws.sent.at(-1)).toMatchObject({ input: { error: 'Canceled' } });
});

it.each([false, true])(
  'a slow start of a container ends in one runner (second start refused: %s)',
  async (isRefused) => {
    await open({ status: 'pending', current: true });
    // The first attempt to start a container is so slow that another attempt starts a second one meanwhile.
    let held = true;
    let calls = 0;
    const { promise: slow, resolve: goOn } = Promise.withResolvers<void>();
    aws.gate = async () => {
      if (held && ++calls === 3) await slow;
    };
    const first = planQueued();
    while (containers().length < 1 || calls < 3) await new Promise((resolve) => setImmediate(resolve));
    held = false;
    if (isRefused) aws.refusal = { tasks: [] };
    expect(
      await planQueued().then(
        () => false,
        () => true,
      ),
    ).toBe(isRefused);
    aws.refusal = undefined;
    const [late, second] = containers() as [StartedContainer, StartedContainer?];
    if (second) expect(await claim(second, 'nonce')).toBeDefined();
    goOn();
    await first;
    expect((await now()).plan.taskId).toBe((second ?? late).taskId);
    expect(containers().map(({ stopped }) => stopped)).toEqual(isRefused ? [undefined] : [true, undefined]);
    if (second) await store.runnerStopped({ detail: { taskArn: taskArnOf(late.taskId), startedBy: run.id } });
    expect((await now()).plan.report).toBeUndefined();
  },
);

it('a stopped apply reports how many resources its state has, unless stored changes are still missing in the state', async () => {
  const { endPhase } = await import('#lifecycle/runners/lost-runners.ts');
  const plan = {
    status: 'finished',
    statusTimestamps: {},
    report: { outcome: 'finished', resourcesAfter: 5 },
  } as const;
  const messageOf = async (phase: 'plan' | 'apply', apply: Partial<Run['apply']> = {}) => {
    await open({ status: 'applying', plan, apply: { status: 'running', statusTimestamps: {}, ...apply } });
    if (phase === 'plan') await store.update(store.keys.run(run.id), { remove: ['plan.report'] });
    await store.update(store.keys.workspace(run.workspaceId), { set: { state: { id: 'sv-1', resources: 3 } } });
    await endPhase(await now(), phase, 'exit code 1');
    const { report } = (await now())[phase];
    expect(report).toMatchObject({ outcome: 'errored', lost: true });
    return [report?.message, report?.stateProblem];
  };
  const [message, stateProblem] = await messageOf('apply');
  expect(message).toMatch(/^The runner stopped during the apply \(exit code 1\)\. .*: 3 of 5 resources recorded\./);
  expect(stateProblem).toBe(message);
  const [kept] = await messageOf('apply', { changesKept: true } as never);
  expect(kept).toMatch(/may be stale\. It contains/);
  expect((await messageOf('plan'))[1], 'a plan changes no state').toBeUndefined();
});

it.each(['prj-aaaaaaaaaaaaaaaa', undefined])(
  'a container has its run as tags, for cost reports: %s',
  async (project) => {
    await open({ status: 'pending', current: true, ...(project ? { projectId: project } : {}) });
    await planQueued();
    const expected = {
      'stepform:organization': run.organization,
      ...(project ? { 'stepform:project': project } : {}),
      'stepform:workspace': run.workspaceName,
      'stepform:run': run.id,
    };
    expect(containers().map(({ tags }) => tags)).toEqual([expected]);
  },
);

it.each([
  ['reports it', { tasks: [], failures: [{ reason: 'Capacity is unavailable.' }] }, ': Capacity is unavailable.'],
  ['details it', { tasks: [], failures: [{ reason: 'AGENT', detail: 'No room' }, { reason: 'B' }] }, ': No room; B'],
  ['starts none', { tasks: [] }, ': no task was started'],
  ['throttles', new AwsError('ThrottlingException', 'Rate exceeded'), ': Rate exceeded'],
  ['is at a limit', new AwsError('ClientException', 'You’ve reached the limit on the number of tasks'), 'limit'],
])('a run stays queued while ECS has no capacity (%s), and starts later', async (_, refusal, reason) => {
  await open({ status: 'pending', current: true });
  aws.refusal = refusal;
  for (let n = 0; n < 2; n++) {
    const error = await planQueued().catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ name: 'CapacityUnavailableError', message: expect.stringContaining(reason) });
  }
  expect(await now()).toMatchObject({ status: 'plan_queued', plan: { status: 'queued' } });
  aws.refusal = undefined;
  await planQueued();
  expect(containers()).toHaveLength(1);
  expect(await claim(containers()[0] as StartedContainer, 'nonce')).toBeDefined();
});

it('an apply stays queued while ECS has no capacity, and can be canceled', async () => {
  const report = { outcome: 'finished', hasChanges: true } as const;
  // Its author may apply it, so that it needs no confirmation.
  await store.addMember('acme', 'user-1', 'owner');
  await open({ status: 'planning', autoApply: true, plan: { status: 'running', statusTimestamps: {}, report } });
  const queue = () => store.applyQueued({ runId: run.id, token: `${run.id} token` });
  aws.refusal = { tasks: [], failures: [{ reason: 'Capacity is unavailable at this time.' }] };
  await expect(queue()).rejects.toMatchObject({ name: 'CapacityUnavailableError' });
  expect(await now()).toMatchObject({ status: 'apply_queued', apply: { status: 'queued' } });
  expect(await store.decide(await now(), 'cancel', 'user-1')).toBe('accepted');
  aws.refusal = undefined;
  await queue();
  expect(containers()).toHaveLength(0);
  expect(aws.sent.at(-1)).toMatchObject({ action: 'SendTaskFailure', input: { error: 'Canceled' } });
});

it.each([
  ['true', true],
  ['false', false],
])('a container gets a public address if the network needs one: %s', async (setting, hasPublicIp) => {
  const before = process.env.ASSIGN_PUBLIC_IP;
  process.env.ASSIGN_PUBLIC_IP = setting;
  await open({ status: 'pending', current: true });
  await planQueued();
  process.env.ASSIGN_PUBLIC_IP = before;
  expect(containers().map((one) => one.hasPublicIp)).toEqual([hasPublicIp]);
});

it.each(['planQueued', 'fetching'] as const)(
  'a new run whose first state is %s sends a notification',
  async (state) => {
    aws.invoked.length = 0;
    for (const before of [{}, { wait: { state: 'Pending', token: 'earlier' } }] as const) {
      await open({ status: 'pending', current: true, notifies: true, ...before });
      await store[state]({ runId: run.id, token: `${run.id} token` });
      expect(aws.invoked).toMatchObject([{ event: { trigger: 'run:created' } }]);
    }
  },
);

it('a run that was discarded before its plan gets no container', async () => {
  await open({ status: 'pending', current: true, decision: { action: 'discard', by: 'user-1', at: '' } });
  await planQueued();
  expect(containers()).toEqual([]);
  expect(aws.sent.at(-1)).toMatchObject({ input: { error: 'Discarded' } });
});

it('other RunTask errors fail the phase immediately', async () => {
  await open({ status: 'pending', current: true });
  aws.refusal = new AwsError('InvalidParameterException', 'TaskDefinition is inactive');
  const before = aws.calls;
  await expect(planQueued()).rejects.toMatchObject({ name: 'InvalidParameterException' });
  expect(aws.calls - before, 'read, RunTask and write').toBe(3);
});

it.each([
  [
    'out of memory',
    {
      stoppedReason: 'Essential container in task exited',
      containers: [{ exitCode: 137, reason: 'OutOfMemoryError' }],
    },
    /stopped during the apply \(Essential container in task exited; OutOfMemoryError; exit code 137\)\. The state may be/,
  ],
  [
    'interrupted by its host',
    { stopCode: 'SpotInterruption', stoppedReason: 'Your Spot Task was interrupted.', containers: [{}] },
    /stopped during the apply \(Your Spot Task was interrupted\.\)/,
  ],
])('an apply errors with the reason when its runner was %s', async (_, detail, reason) => {
  const apply = { status: 'running', statusTimestamps: {}, taskId: 'it', claimNonce: 'nonce' } as const;
  await open({ status: 'applying', current: true, apply, wait: { state: 'Applying', token: 'token' } });
  await store.runnerStopped({ detail: { taskArn: taskArnOf('it'), startedBy: run.id, ...detail } });
  expect((await now()).apply.report).toMatchObject({ outcome: 'errored', message: expect.stringMatching(reason) });
  expect(aws.sent.at(-1)).toMatchObject({ action: 'SendTaskFailure', input: { error: 'TerraformFailed' } });
  const taskId = 'canceled';
  const canceled = { by: 'user-1', at: '', forceAvailableAt: '' };
  await open({ status: 'applying', current: true, apply: { ...apply, taskId }, cancel: canceled });
  await store.runnerStopped({ detail: { taskArn: taskArnOf(taskId), startedBy: run.id, ...detail } });
  expect((await now()).apply.report).toMatchObject({ outcome: 'canceled', lost: true });
  // The event is delivered once more.
  const sent = aws.sent.length;
  await store.runnerStopped({ detail: { taskArn: taskArnOf('it'), startedBy: run.id, ...detail } });
  expect(aws.sent).toHaveLength(sent);
});

/** Makes the next sweep check the run, whose container was started so many seconds ago. */
const sweepAfter = async (seconds: number): Promise<number> => {
  const container = containers().at(-1) as StartedContainer;
  container.createdAt = Date.now() / 1000 - seconds;
  await store.updateRun(run.id, { set: store.dueIn(run.id, -1) });
  return (await store.sweep()).repaired;
};
/** Seconds until the sweep checks the run again. */
const nextLook = async () =>
  (Date.parse(((await store.getRun(run.id)) as Run & { dueAt: string }).dueAt) - Date.now()) / 1000;
const waiting = {
  plan: { status: 'pending', current: true },
  apply: {
    status: 'planning',
    current: true,
    autoApply: true,
    plan: { status: 'running', statusTimestamps: {}, report: { outcome: 'finished', hasChanges: true } },
  },
} as const satisfies Record<string, Partial<Run>>;
const enter = (phase: 'plan' | 'apply') =>
  phase === 'plan' ? planQueued() : store.applyQueued({ runId: run.id, token: `${run.id} token` });

it.each(['plan', 'apply'] as const)(
  'another container starts when one hangs before it claims its %s',
  async (phase) => {
    await open(waiting[phase]);
    await enter(phase);
    await sweepAfter(90);
    expect(containers()).toHaveLength(1);
    expect(await nextLook()).toBeLessThan(61);
    expect(await sweepAfter(101)).toBe(1);
    const [hangs, next] = containers() as [StartedContainer, StartedContainer];
    expect([hangs.stopped, next.stopped]).toEqual([true, undefined]);
    expect((await now())[phase].taskId).toBe(next.taskId);
    const events = await store.listRunEvents(await now());
    expect(events.map(({ action }) => action)).toContain(`${phase}_runner_replaced`);
    expect(await claim(hangs, 'hangs')).toBeUndefined();
    // This event reports the end of the first container, not of the second.
    await store.runnerStopped({
      detail: { taskArn: taskArnOf(hangs.taskId), startedBy: run.id, stoppedReason: 'stopped' },
    });
    expect((await now())[phase].report).toBeUndefined();
    expect(await claim(next, 'next')).toBeDefined();
    await sweepAfter(300);
    expect(containers()).toHaveLength(2);
  },
);

it('another container starts when one ended before its claim and its end was never reported', async () => {
  await open(waiting.plan);
  await enter('plan');
  (containers()[0] as StartedContainer).stopped = true;
  await sweepAfter(61);
  expect(containers()).toHaveLength(2);
});

it('the sweep waits for a container that is still being provisioned', async () => {
  await open(waiting.plan);
  await enter('plan');
  (containers()[0] as StartedContainer).isProvisioning = true;
  await sweepAfter(600);
  expect(containers()).toHaveLength(1);
});

it('the next sweep replaces a hanging container if ECS had no capacity in the first one', async () => {
  await open(waiting.plan);
  await enter('plan');
  aws.refusal = new AwsError('ThrottlingException', 'Rate exceeded');
  vi.spyOn(console, 'error').mockImplementation(() => {});
  await sweepAfter(101);
  expect((await now()).plan.taskId).toBeUndefined();
  aws.refusal = undefined;
  await sweepAfter(160);
  expect((await now()).plan.taskId).toBe(containers()[1]?.taskId);
});
