import { afterAll, beforeAll, expect, it } from 'vitest';
import type { PhaseName, Run } from '#run/run.ts';
import { type Aws, startAws } from '#test/support/aws.ts';
import { newRun } from '#test/support/run.ts';

/** A runner's claim of a phase, and its report. */

let aws: Aws;
let store: Awaited<ReturnType<typeof load>>;
const load = async () => ({
  ...(await import('#lifecycle/phases/phases.ts')),
  ...(await import('#lifecycle/runners/hand-over.ts')),
  ...(await import('#resources/runs/records.ts')),
  ...(await import('#resources/users/memberships.ts')),
  ...(await import('#platform/store/id.ts')),
  ...(await import('#platform/store/keys.ts')),
  ...(await import('#platform/store/table.ts')),
});
beforeAll(async () => {
  aws = await startAws();
  store = await load();
});
afterAll(() => aws.close());

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

it('a warm runner belongs to the run from its claim, and no other runner gets its container', async () => {
  const taskArn = 'arn:warm';
  const { run, claim } = await claimed();
  const { claimHash = '' } = (await read(run)).plan;
  await store.updateRun(run.id, { set: { 'plan.warm': { keyHash: 'former', taskArn } } });
  await store.claimPhase(claim(), 'nonce');
  expect((await read(run)).plan.taskArn).toBeUndefined();
  await store.updateRun(run.id, { set: { 'plan.warm': { keyHash: claimHash, taskArn } } });
  await store.claimPhase(claim(), 'nonce');
  expect((await read(run)).plan.taskArn).toBe(taskArn);
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
const reporting = async (set: Partial<Run>, hold = 60, phase: PhaseName = 'plan', report: object = changes) => {
  const run = await open({ status: 'planning', plan: { ...empty, status: 'running', tokenHash: 'mine' }, ...set });
  const held = await store.reportPhase(run, phase, report as typeof changes, hold);
  const { plan } = await read(run);
  return [held !== undefined, plan.heldUntil !== undefined];
};

it('a runner stands by after a plan that can be applied, and only then', async () => {
  expect(await reporting({})).toEqual([true, true]);
  expect(await reporting({}, 0), 'without a time to stand by').toEqual([false, false]);
  expect(await reporting({ savePlan: true })).toEqual([false, false]);
  expect(await reporting({ planOnly: true })).toEqual([false, false]);
  expect(await reporting({}, 60, 'plan', { outcome: 'errored' })).toEqual([false, false]);
  const apply = { ...empty, status: 'running' } as const;
  expect(await reporting({ plan: { ...empty, status: 'finished', report: changes }, apply }, 60, 'apply')).toEqual([
    false,
    false,
  ]);
});

it('the first report counts, and a runner whose token was revoked is rejected', async () => {
  const run = await open({ status: 'planning', plan: { ...empty, status: 'running', tokenHash: 'mine' } });
  await store.updateRun(run.id, { set: { 'plan.claimHash': 'c', 'plan.stateTokenHash': 's' } });
  expect(await store.reportPhase(run, 'plan', changes, 60)).toBeDefined();
  expect(await store.reportPhase(run, 'plan', { outcome: 'errored' }, 60)).toBeUndefined();
  const { plan } = await read(run);
  expect(plan.report).toEqual(changes);
  expect([plan.claimHash, plan.stateTokenHash]).toEqual([undefined, undefined]);
  const other = { ...run, plan: { ...run.plan, tokenHash: 'another' } };
  await expect(store.reportPhase(other, 'plan', changes, 60)).rejects.toMatchObject({ name: 'TokenRevokedError' });
});

it('an offer to a runner that no longer stands by is renewed once half of its lease is over', async () => {
  const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
  const extended = async (heldUntil: string | undefined) => {
    const run = await open({ plan: { ...empty, status: 'finished', ...(heldUntil ? { heldUntil } : {}) } });
    await store.extendHold(run);
    return (await read(run)).plan.heldUntil;
  };
  const late = inMs(5_000);
  const early = inMs(12_000);
  expect(Date.parse((await extended(late)) ?? '')).toBeGreaterThan(Date.parse(late) + 5_000);
  expect(await extended(early)).toBe(early);
  expect(await extended(undefined), 'not standing by').toBeUndefined();
});

it('the apply is handed over with the report of the plan, unless an author lost the permission', async () => {
  const owner = store.newId('user');
  await store.addMember('acme', owner, 'owner');
  const handed = async (set: Partial<Run>, hasWorkspace = true) => {
    const token = store.newId('token');
    const run = await open({
      status: 'planning',
      autoApply: true,
      appliesFor: [owner],
      wait: { state: 'Planning', token: 't' },
      plan: { ...empty, status: 'running', taskArn: 'arn:it', claimNonce: 'n', tokenHash: store.hashSecret(token) },
      ...set,
    });
    const { workspaceId: id, organization } = run;
    if (hasWorkspace) await store.put({ ...store.keys.workspace(id), id, organization, projectId: 'prj-1' });
    const taken = await store.handOver(run, changes, token);
    return taken && { ...taken, run: await read(run) };
  };
  const taken = await handed({});
  expect(taken).toMatchObject({
    phase: 'apply',
    workspace: { organization: 'acme' },
    run: {
      status: 'apply_queued',
      plan: { status: 'finished', report: changes },
      apply: { taskArn: 'arn:it', offeredAt: expect.stringMatching(/Z$/), claimNonce: expect.any(String) },
    },
  });
  expect(taken?.run.plan.claimHash).toBeUndefined();
  expect(await handed({ appliesFor: undefined, environment: 'env-1' })).toBeDefined();
  expect(await handed({ appliesFor: [owner, 'user-former'] })).toBeUndefined();
  expect(await handed({ autoApply: false })).toBeUndefined();
  expect(await handed({}, false), 'a deleted workspace').toBeUndefined();
});
