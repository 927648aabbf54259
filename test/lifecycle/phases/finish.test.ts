import { expect, it } from 'vitest';
import type { Run } from '#run/run.ts';
import { startApi } from '#test/support/api.ts';
import { runHelpers } from '#test/support/runs.ts';

/** The end of a run: its runner, what remains of it, and the next run. */

const api = await startApi();
const help = await runHelpers(api);
const store = {
  ...(await import('#lifecycle/phases/finish.ts')),
  ...(await import('#lifecycle/creation/hidden-runs.ts')),
  ...(await import('#lifecycle/phases/phases.ts')),
  ...(await import('#platform/store/id.ts')),
  ...(await import('#platform/store/keys.ts')),
  ...(await import('#platform/store/table.ts')),
  ...(await import('#resources/runs/logs.ts')),
};

type Set = Partial<Run> & Record<string, unknown>;
const running = async (set: Set = {}): Promise<Run> => {
  const { id } = await help.create((await help.ready()).id);
  await help.bring(id, { status: 'planning', 'plan.status': 'running', ...set });
  return (await help.store.getRun(id)) as Run;
};
const read = async ({ id }: Run) => (await help.store.getRun(id)) as Run;
const container = (run: Run) => {
  const one = {
    taskId: `task-${run.id}`,
    startedBy: run.id,
    environment: {},
    createdAt: 0,
    stopped: false,
    ignoresStop: false,
  };
  api.aws.containers.push(one);
  return one;
};
const timedOut = { Error: 'States.Timeout' };

it('an ended run keeps neither claims nor a wait, is not due, and releases its workspace', async () => {
  const secrets = { tokenHash: 't', claimHash: 'c', ready: { keyHash: 'k', until: '' } };
  const run = await running({
    wait: { state: 'Planning' },
    endReason: 'stopping',
    'plan.report': { outcome: 'finished' },
    ...Object.fromEntries(
      Object.entries(secrets).flatMap(([name, value]) => [
        [`plan.${name}`, value],
        [`apply.${name}`, value],
      ]),
    ),
  });
  const ended = await store.finishRun(run.id, 'PlannedAndFinished');
  expect(ended).toEqual(await read(run));
  expect(ended).toMatchObject({ status: 'planned_and_finished', plan: { status: 'finished' } });
  for (const gone of ['wait', 'dueAt', 'endReason', 'unsaved']) expect(ended).not.toHaveProperty(gone);
  for (const phase of [ended?.plan, ended?.apply]) {
    for (const name of Object.keys(secrets)) expect(phase).not.toHaveProperty(name);
  }
  expect((await api.get(`workspaces/${run.workspaceId}`)).body.data.attributes.locked).toBe(false);
  expect(await store.finishRun(run.id, 'Canceled'), 'a final run keeps its status').toEqual(ended);
  expect(await store.finishRun('run-none', 'Applied')).toBeUndefined();
});

it('a run does not end while its runner has the apply, whenever the runner claims', async () => {
  const outcomes = new Set<string>();
  for (let n = 1; !outcomes.has('not claimed'); n++) {
    const key = 'key'.padEnd(43, 'k');
    const run = await running({
      status: 'apply_queued',
      wait: { state: 'Planning' },
      'plan.report': { outcome: 'finished', hasChanges: true },
      'plan.ready': { keyHash: store.hashSecret(key), until: '2099' },
      'apply.claimHash': store.hashSecret(key),
    });
    const one = container(run);
    await help.bring(run.id, {
      'plan.taskId': one.taskId,
    });
    one.ignoresStop = true;
    let calls = 0;
    let claimed: object | undefined;
    api.aws.gate = async () => {
      if (++calls !== n) return;
      api.aws.gate = undefined;
      claimed = await store.claimPhase(`${run.id}.apply.${key}`, 'nonce');
    };
    const error = await store.finishRun(run.id, 'PlanErrored', { Error: 'States.HeartbeatTimeout' }).catch((e) => e);
    const isReached = api.aws.gate === undefined;
    api.aws.gate = undefined;
    const { status } = await read(run);
    if (claimed) {
      expect([n, status, error.name]).toEqual([n, 'apply_queued', 'RunnerStillStoppingError']);
      one.ignoresStop = false;
      await expect(store.finishRun(run.id, 'PlanErrored')).resolves.toMatchObject({ status: 'errored' });
      expect(one.stopped).toBe(true);
      outcomes.add('claimed');
    } else {
      expect([n, status]).toEqual([n, 'errored']);
      if (isReached) outcomes.add('rejected');
      else outcomes.add('not claimed');
    }
  }
  expect([...outcomes]).toEqual(['claimed', 'rejected', 'not claimed']);
});

it('a run stays due while its caller has not finished', async () => {
  const run = await running();
  expect(await store.finishRun(run.id, 'PlanErrored', timedOut, { keepDue: true })).toHaveProperty('dueAt');
});

it('the log of a phase that was cut off ends with the reason, and a stored log stays', async () => {
  const cutOff = await running();
  await store.finishRun(cutOff.id, 'PlanErrored', timedOut);
  expect((await read(cutOff)).plan).toMatchObject({ logStored: true, status: 'errored' });
  const logOf = async ({ id }: Run): Promise<string> => {
    const { attributes } = (await api.get(`plans/${id.replace('run-', 'plan-')}`)).body.data;
    const { body } = await api.call('GET', new URL(attributes['log-read-url']).pathname, { token: null });
    return Buffer.from(String(body), 'base64').toString();
  };
  expect(await logOf(cutOff)).toContain('took longer than its time limit');
  const canceled = await running();
  await store.finishRun(canceled.id, 'Canceled');
  expect(await logOf(canceled)).toContain('The run was canceled.');
  const whole = await running({ 'plan.report': { outcome: 'finished', artifacts: { log: 'sha' } } });
  await store.finishRun(whole.id, 'PlannedAndFinished');
  expect((await read(whole)).plan.logStored).toBeUndefined();
  const queued = await running({ status: 'plan_queued', 'plan.status': 'queued' });
  await store.finishRun(queued.id, 'PlanErrored', timedOut);
  expect((await read(queued)).plan.logStored).toBe(true);
});

it('a run that was discarded by a user is in the audit trail once, any other end as itself', async () => {
  const actions = async ({ id }: Run) =>
    (await api.get('organization/audit-trail?sort=-timestamp&page[size]=100')).body.data
      .filter(({ resource }: { resource: { id: string } }) => resource.id === id)
      .map(({ resource }: { resource: { action: string } }) => resource.action);
  const discarded = await running({ status: 'planned', decision: { action: 'discard', by: api.userId, at: '' } });
  const before = await actions(discarded);
  await store.finishRun(discarded.id, 'Discarded');
  expect(await actions(discarded)).toEqual(before);
  const stale = await running({ status: 'planned', decision: { action: 'discard', at: '', reason: 'stale' } });
  await store.finishRun(stale.id, 'Discarded');
  expect(await actions(stale)).toHaveLength(before.length + 1);
});

it('a container that has not reported is stopped before the run ends, and gets the reason', async () => {
  const working = await running();
  const one = container(working);
  await help.bring(working.id, { 'plan.taskId': one.taskId, 'plan.claimNonce': 'n' });
  // ECS has accepted the request, and the container still runs.
  one.ignoresStop = true;
  const stopping = () => store.finishRun(working.id, 'PlanErrored', { Error: 'States.HeartbeatTimeout' });
  await expect(stopping()).rejects.toMatchObject({ name: 'RunnerStillStoppingError' });
  expect(await read(working)).toMatchObject({ status: 'planning', endReason: expect.stringContaining('runner') });
  one.ignoresStop = false;
  expect((await stopping())?.status).toBe('errored');
  expect(one).toMatchObject({ stopReason: `errored: ${working.id}` });

  const unclaimed = await running();
  const idle = container(unclaimed);
  await help.bring(unclaimed.id, { 'plan.taskId': idle.taskId });
  expect((await store.finishRun(unclaimed.id, 'Canceled'))?.status).toBe('canceled');
  expect(idle.stopped).toBe(true);

  const reported = await running();
  const ending = container(reported);
  await help.bring(reported.id, {
    'plan.taskId': ending.taskId,
    'plan.claimNonce': 'n',
    'plan.report': { outcome: 'finished' },
  });
  await store.finishRun(reported.id, 'PlannedAndFinished');
  expect(ending.stopped, 'exits by itself').toBe(false);

  const forced = await running();
  const hanging = container(forced);
  await help.bring(forced.id, {
    'plan.taskId': hanging.taskId,
    'plan.claimNonce': 'n',
    'plan.report': { outcome: 'canceled', lost: true },
    cancel: { by: 'u', at: '', forceAvailableAt: '', forced: { by: 'u', at: '' } },
  });
  await store.finishRun(forced.id, 'Canceled');
  expect(hanging.stopped).toBe(true);
});

it('the runner of an agent gets the time to stop, once', async () => {
  const agent = { id: 'agent-1', name: 'a' };
  const run = await running({ 'plan.agent': agent, 'plan.claimNonce': 'n' });
  const end = () => store.finishRun(run.id, 'Canceled');
  await expect(end()).rejects.toThrow('has not stopped yet (agent a)');
  const { stop } = (await read(run)).plan;
  expect(Date.parse(stop?.goneAt ?? '') - Date.parse(stop?.killAt ?? '')).toBeCloseTo(45_000, -2);
  await expect(end()).rejects.toThrow();
  expect((await read(run)).plan.stop).toEqual(stop);
  await help.bring(run.id, { 'plan.stop': { ...stop, goneAt: new Date(Date.now() - 1).toISOString() } as never });
  expect((await end())?.status).toBe('canceled');
  const unclaimed = await running({ 'plan.agent': agent });
  expect((await store.finishRun(unclaimed.id, 'Canceled'))?.status).toBe('canceled');
});

it.each<[string, Set]>([
  ['ASSESSING', { assessment: { stateId: '' } }],
  ['TESTING', { test: { moduleId: 'mod-1', filters: [], directory: 'tests', verbose: false } }],
  ['QUERYING', { query: { generatesConfiguration: false } }],
])('a hidden run is marked as %s in its organization while it lasts', async (kind, set) => {
  const run = { ...(await running(set)), ...set } as Run;
  const marked = async () =>
    (await store.queryAll<{ runId: string }>({ pk: store.keys.organization('acme').pk, prefix: `${kind}#` })).map(
      ({ runId }) => runId,
    );
  await store.beginHidden(run);
  expect(await marked()).toEqual([run.id]);
  await store.finishRun(run.id, 'PlannedAndFinished');
  expect(await marked()).toEqual([]);
});

it('an apply that stopped without a final state locks its workspace, and says how much the state contains', async () => {
  const lost = { outcome: 'errored', lost: true, message: 'gone' } as const;
  const applying = { status: 'applying', 'plan.status': 'finished', 'apply.status': 'running' } as const;
  const run = await running({
    ...applying,
    'plan.report': { outcome: 'finished', resourcesAfter: 4 },
    'apply.claimNonce': 'n',
    'apply.report': lost,
  });
  const ended = await store.finishRun(run.id, 'ApplyErrored', { Error: 'States.HeartbeatTimeout' });
  expect(ended?.endReason).toContain('0 of 4 resources recorded');
  expect(ended?.unsaved).toMatchObject({ lost: true });
  expect((await api.get(`workspaces/${run.workspaceId}`)).body.data.attributes.locked).toBe(true);
  const applied = await running({ ...applying, 'apply.claimNonce': 'n', 'apply.report': { outcome: 'finished' } });
  expect((await store.finishRun(applied.id, 'Applied'))?.unsaved).toBeUndefined();
});
