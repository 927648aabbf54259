import { expect, it } from 'vitest';
import type { PhaseName, Run } from '#run/run.ts';
import { startAws } from '#test/support/aws.ts';
import { newRun } from '#test/support/run.ts';

/** A runner's claim of a phase, and its report. */

await startAws();
process.env.READY_SECONDS = '60';
const store = {
  ...(await import('#lifecycle/phases/phases.ts')),
  ...(await import('#resources/runs/records.ts')),
  ...(await import('#resources/users/memberships.ts')),
  ...(await import('#platform/store/id.ts')),
  ...(await import('#platform/store/keys.ts')),
  ...(await import('#platform/store/table.ts')),
};

const empty = { statusTimestamps: {} };
const open = async (set: Partial<Run> = {}): Promise<Run> => {
  const id = store.newId('run');
  const run = newRun({ id, workspaceId: id.replace('run-', 'ws-'), status: 'plan_queued', ...set });
  await store.put({ ...store.keys.run(id), ...run });
  return run;
};
const read = async ({ id }: Run) => (await store.getRun(id)) as Run;

const claimed = async (set: Partial<Run> = {}, phase: PhaseName = 'plan') => {
  const { secret, set: claim } = store.newClaim(phase);
  const run = await open(set);
  await store.updateRun(run.id, { set: claim });
  return { run, claim: (name: string = phase, of = secret) => `${run.id}.${name}.${of}` };
};

it('a claim is exchanged for a token by one runner, which may repeat it', async () => {
  const { run, claim } = await claimed();
  const first = await store.claimPhase(claim(), 'nonce');
  expect(first).toMatchObject({ phase: 'plan', run: { id: run.id, plan: { claimNonce: 'nonce' } } });
  const again = await store.claimPhase(claim(), 'nonce');
  expect([again?.run.id, again?.token === first?.token]).toEqual([run.id, false]);
  expect(await store.claimPhase(claim(), 'another')).toBeUndefined();
  for (const void_ of [claim('other'), claim('apply'), claim('plan', 'secret'), 'run-none.plan.secret', '']) {
    expect(await store.claimPhase(void_, 'nonce'), void_).toBeUndefined();
  }
  await store.updateRun(run.id, { set: { status: 'errored' } });
  expect(await store.claimPhase(claim(), 'nonce')).toBeUndefined();
});

it('a reserved runner belongs to the run from its claim, and no other runner gets its container', async () => {
  const taskId = 'task-ready';
  const { run, claim } = await claimed();
  const { claimHash = '' } = (await read(run)).plan;
  await store.updateRun(run.id, { set: { 'plan.reserved': { keyHash: 'former', taskId } } });
  await store.claimPhase(claim(), 'nonce');
  expect((await read(run)).plan.taskId).toBeUndefined();
  await store.updateRun(run.id, { set: { 'plan.reserved': { keyHash: claimHash, taskId } } });
  await store.claimPhase(claim(), 'nonce');
  expect((await read(run)).plan.taskId).toBe(taskId);
});

it.each<[string, Partial<Run>, boolean]>([
  ['whose claim is not written yet', {}, true],
  ['that is over', { status: 'errored' }, false],
  ['of an agent', { agentPool: { id: 'apool-1', name: 'p' } }, false],
  ['that is canceled', { cancel: { by: 'u', at: '', forceAvailableAt: '' } }, false],
  ['with another claim', { plan: { ...empty, status: 'queued', claimHash: 'h' } }, false],
  ['with a runner', { plan: { ...empty, status: 'queued', claimNonce: 'n' } }, false],
  ['that has planned', { plan: { ...empty, status: 'running', report: { outcome: 'finished' } } }, false],
])('an early claim of a run %s is retried: %s', async (_, set, isRetried) => {
  const { id } = await open(set);
  const claim = store.claimPhase(`${id}.plan.secret`, 'nonce');
  if (isRetried) await expect(claim).rejects.toMatchObject({ name: 'NotStartedError' });
  else expect(await claim).toBeUndefined();
  expect(await store.claimPhase(`${id}.apply.secret`, 'nonce')).toBeUndefined();
});

const changes = { outcome: 'finished', hasChanges: true } as const;
const reporting = async (set: Partial<Run>, phase: PhaseName = 'plan', report: object = changes) => {
  const plan = { ...empty, status: 'running', taskId: 'task-it', tokenHash: 'mine' } as const;
  const run = await open({ status: 'planning', plan, ...set });
  await store.reportPhase(run, phase, report as typeof changes, 'key');
  return (await read(run)).plan.ready;
};

it('a runner is ready after a plan that can be applied, and only then', async () => {
  const before = Date.now();
  const { keyHash, until = '' } = (await reporting({})) ?? {};
  expect(keyHash).toBe('key');
  expect(Date.parse(until) - before).toBeGreaterThanOrEqual(60_000);
  expect(Date.parse(until) - Date.now()).toBeLessThanOrEqual(60_000);
  expect(await reporting({ plan: { ...empty, status: 'running', tokenHash: 'mine' } }), 'an agent').toBeUndefined();
  process.env.READY_SECONDS = '0';
  expect(await reporting({})).toBeUndefined();
  expect(await reporting({ autoApply: true })).toBeUndefined();
  process.env.READY_SECONDS = '60';
  expect(await reporting({ savePlan: true })).toBeUndefined();
  expect(await reporting({ planOnly: true })).toBeUndefined();
  expect(await reporting({}, 'plan', { outcome: 'errored' })).toBeUndefined();
  const plan = { ...empty, status: 'finished', report: changes } as const;
  const apply = { ...empty, status: 'running', taskId: 'task-it', tokenHash: 'mine' } as const;
  expect(await reporting({ plan, apply }, 'apply')).toBeUndefined();
});

it('the first report counts, and a runner whose token was revoked is rejected', async () => {
  const run = await open({ status: 'planning', plan: { ...empty, status: 'running', tokenHash: 'mine' } });
  await store.updateRun(run.id, { set: { 'plan.claimHash': 'c' } });
  for (const report of [changes, { outcome: 'errored' } as const]) await store.reportPhase(run, 'plan', report);
  const { plan } = await read(run);
  expect(plan.report).toEqual(changes);
  expect(plan.claimHash).toBeUndefined();
  const other = { ...run, plan: { ...run.plan, tokenHash: 'another' } };
  await expect(store.reportPhase(other, 'plan', changes)).rejects.toMatchObject({ name: 'TokenRevokedError' });
});

it('the apply is reserved with the report of the plan, unless an author lost the permission or the run changed', async () => {
  const owner = store.newId('user');
  await store.addMember('acme', owner, 'owner');
  const reserved = async (set: Partial<Run>, meanwhile: Partial<Run> = {}) => {
    const run = await open({
      status: 'planning',
      autoApply: true,
      appliesFor: [owner],
      wait: { state: 'Planning', token: 't' },
      plan: { ...empty, status: 'running', taskId: 'task-it', claimNonce: 'n', tokenHash: 'mine' },
      ...set,
    });
    const { workspaceId: id, organization } = run;
    await store.put({ ...store.keys.workspace(id), id, organization, projectId: 'prj-1' });
    await store.updateRun(run.id, { set: meanwhile });
    await store.reportPhase(run, 'plan', changes, 'key');
    const { plan, apply, status } = await read(run);
    expect(plan.report).toEqual(changes);
    return apply.claimHash && { status, plan, apply };
  };
  const taken = await reserved({});
  expect(taken).toMatchObject({
    status: 'apply_queued',
    plan: { status: 'finished', ready: { keyHash: 'key' } },
    apply: { status: 'queued', claimHash: 'key' },
  });
  expect(await reserved({ appliesFor: undefined, environment: 'env-1' })).toBeDefined();
  expect(await reserved({ appliesFor: [owner, 'user-former'] })).toBeUndefined();
  expect(await reserved({ autoApply: false })).toBeUndefined();
  const { at, by } = { at: '', by: 'user-1' };
  expect(await reserved({}, { cancel: { by, at, forceAvailableAt: '' } })).toBeUndefined();
  expect(await reserved({}, { decision: { action: 'discard', by, at } })).toBeUndefined();
  expect(await reserved({}, { wait: { state: 'PlanQueued' } })).toBeUndefined();
  expect(await reserved({}, { status: 'planned' })).toBeUndefined();
});
