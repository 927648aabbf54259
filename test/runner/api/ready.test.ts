import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashSecret, newSecret } from '#platform/store/id.ts';
import type { ReadyAnswer, ReportAnswer } from '#run/protocols/runner.ts';
import { startRunnerApi } from '#test/support/runner-api.ts';

/** Requests of a runner that is ready for the apply of its plan. */

let runner: Awaited<ReturnType<typeof startRunnerApi>>;
beforeAll(async () => {
  runner = await startRunnerApi();
});
afterAll(() => runner.close());

const stored = async (run: string) => {
  const found = await runner.help.store.getRun(run);
  if (!found) throw new Error(`no ${run}`);
  return found;
};

/** A plan in progress, whose runner has chosen a key. */
const planning = async (change: Record<string, unknown> = {}) => {
  const { run, token } = await runner.claim('plan');
  await runner.help.bring(run, {
    status: 'planning',
    wait: { state: 'Planning', token: `${run} token` },
    'plan.status': 'running',
    'plan.taskId': `task-${run}`,
    ...change,
  });
  const key = newSecret();
  const post = (name: string, body: object, of = '') => runner.call(of, name, body);
  return {
    run,
    token,
    key,
    report: async (more: object = {}): Promise<ReportAnswer> =>
      (await post('report', { outcome: 'finished', hasChanges: true, artifacts: {}, key, ...more }, token)).body,
    poll: async (claim = `${run}.apply`, of = key) => post('ready', { claim, key: of }),
    claim: async (claim = `${run}.apply.${key}`, nonce = 'nonce') => post('claim', { claim, nonce }),
    told: () =>
      runner.api.aws.sent
        .filter(({ input }) => input.taskToken === `${run} token`)
        .map(({ input }) => JSON.parse(String(input.output ?? 'null'))),
  };
};
const automatic = () => ({ autoApply: true, appliesFor: [runner.api.userId] });
const wait: ReadyAnswer = { action: 'wait', afterMs: 2000 };
const exit: ReadyAnswer = { action: 'exit' };

describe('an apply without a decision', () => {
  it('is reserved by the report for the runner that reports, whose claim resumes the execution', async () => {
    const plan = await planning(automatic());
    expect((await plan.report()).next).toEqual({ action: 'claim', claim: `${plan.run}.apply` });
    const reserved = await stored(plan.run);
    expect(reserved).toMatchObject({
      status: 'apply_queued',
      plan: { status: 'finished', report: { outcome: 'finished' } },
      apply: { status: 'queued', claimHash: hashSecret(plan.key) },
    });
    expect(Object.keys(reserved.statusTimestamps)).toEqual(expect.arrayContaining(['planned-at', 'apply-queued-at']));
    expect([reserved.apply.taskId, plan.told()]).toEqual([undefined, []]);
    const { status, body } = await plan.claim();
    expect([status, body]).toMatchObject([200, { runId: plan.run, phase: 'apply', planUrl: null }]);
    expect((await stored(plan.run)).apply.taskId).toBe(`task-${plan.run}`);
    expect(plan.told()).toEqual([{ next: 'Applying' }]);
  });

  it('is reserved again when the response to the report was lost', async () => {
    const plan = await planning(automatic());
    const first = await plan.report();
    expect(await plan.report()).toMatchObject({ next: first.next });
    expect((await plan.claim()).status).toBe(200);
    const again = await plan.claim();
    expect(again.status, 'the response to the claim was lost').toBe(200);
    expect((await plan.claim(undefined, 'another')).status).toBe(410);
    expect((await runner.call(again.body.token, 'heartbeat')).status).toBe(200);
  });

  it('continues in Planning when its function is retried before and after the claim', async () => {
    const plan = await planning(automatic());
    await plan.report();
    const { enterState } = await import('#lifecycle/phases/progress.ts');
    const again = { token: `${plan.run} token`, entered: '2099-01-01T00:00:00.000Z', attempt: 1 } as const;
    expect((await enterState(plan.run, 'Planning', again)).status).toBe('apply_queued');
    expect(plan.told()).toEqual([]);
    await plan.claim();
    expect((await enterState(plan.run, 'Planning', { ...again, attempt: 2 })).status).toBe('apply_queued');
    expect(plan.told()).toEqual([{ next: 'Applying' }, { next: 'Applying' }]);
    expect((await enterState(plan.run, 'Applying', { token: 'applying' })).status).toBe('applying');
  });

  it.each<[string, () => Record<string, unknown>, ReadyAnswer]>([
    ['its author may not apply any more', () => ({ ...automatic(), appliesFor: ['user-gone'] }), wait],
    ['a person has to confirm it', () => ({ autoApply: false }), wait],
    ['a check comes first', () => ({ ...automatic(), checks: { policyEvaluation: true } }), wait],
    ['the run was canceled', () => ({ ...automatic(), cancel: { by: 'u', at: '', forceAvailableAt: '' } }), exit],
    ['the container of the runner is unknown', () => ({ ...automatic(), 'plan.taskId': '' }), exit],
  ])('is not reserved by the report when %s', async (_, change, next) => {
    const plan = await planning(change());
    expect((await plan.report()).next).toEqual(next);
    const { apply } = await stored(plan.run);
    expect([apply.claimHash, apply.status]).toEqual([undefined, 'pending']);
    expect((await plan.claim()).status).toBe(410);
  });
});

describe("a plan's runner", () => {
  it.each<[string, Record<string, unknown>, object]>([
    ['without changes', {}, { hasChanges: false }],
    ['that failed', {}, { outcome: 'errored' }],
    ['of a saved plan', { savePlan: true }, {}],
    ['of a plan-only run', { planOnly: true }, {}],
    ['of an agent', { agentPool: { id: 'apool-1', name: 'p' } }, {}],
    ['that sends no key', {}, { key: undefined }],
  ])('%s exits after its report', async (_, change, report) => {
    const plan = await planning(change);
    expect((await plan.report(report)).next).toEqual(exit);
    expect((await plan.poll()).body).toEqual(exit);
  });

  it('waits for a decision, then gets the apply that is reserved for it, and nothing else', async () => {
    const plan = await planning();
    expect((await plan.report()).next).toEqual(wait);
    expect((await plan.poll()).body).toEqual(wait);
    await runner.help.bring(plan.run, { status: 'apply_queued', 'apply.claimHash': hashSecret(plan.key) });
    expect((await plan.poll()).body).toEqual({ action: 'claim', claim: `${plan.run}.apply` });
  });

  it.each<[string, Record<string, unknown>]>([
    ['the run is canceled', { cancel: { by: 'user-1', at: '', forceAvailableAt: '' } }],
    ['the run is discarded', { decision: { action: 'discard', by: 'user-1', at: '' } }],
    ['another runner has the apply', { 'apply.claimHash': 'of another runner' }],
    ['the platform does not count on it any more', { 'plan.ready': undefined }],
  ])('has to exit when %s', async (_, change) => {
    const plan = await planning();
    await plan.report();
    const { update } = await import('#platform/store/table.ts');
    const { keys } = await import('#platform/store/keys.ts');
    if ('plan.ready' in change) await update(keys.run(plan.run), { remove: ['plan.ready'] });
    else await runner.help.bring(plan.run, change);
    expect((await plan.poll()).body).toEqual(exit);
  });

  it('can do nothing else with its token after its report, and its token claims no apply', async () => {
    const plan = await planning();
    await plan.report();
    for (const call of ['heartbeat', 'log?offset=0', 'uploads', 'state-versions'])
      expect((await runner.call(plan.token, call, {})).status, call).toBe(410);
    await runner.help.bring(plan.run, { status: 'apply_queued', 'apply.claimHash': hashSecret(plan.key) });
    const secret = plan.token.split('.')[2];
    expect((await plan.claim(`${plan.run}.apply.${secret}`)).status).toBe(410);
    expect((await plan.poll(undefined, secret)).body).toEqual(exit);
  });

  it('gets no apply of another run with its key', async () => {
    const [own, other] = [await planning(), await planning()];
    await own.report();
    await other.report();
    await runner.help.bring(other.run, { status: 'apply_queued', 'apply.claimHash': hashSecret(other.key) });
    expect((await own.poll(`${other.run}.apply`)).body).toEqual(exit);
    expect((await own.claim(`${other.run}.apply.${own.key}`)).status).toBe(410);
    // Nor a plan with its key.
    expect((await own.poll(`${other.run}.plan`)).status).toBe(422);
    expect((await own.poll('run-0000000000000000.apply')).status).toBe(410);
  });

  it('cannot replace its key with a second report', async () => {
    const plan = await planning();
    await plan.report();
    const second = newSecret();
    expect((await plan.report({ key: second })).next).toEqual(exit);
    expect((await plan.poll(undefined, second)).body).toEqual(exit);
    expect((await plan.poll()).body).toEqual(wait);
  });
});

it('only a runner without the plan gets its URL with the apply', async () => {
  const plan = await planning({ decision: { action: 'apply', by: 'user-1', at: '' } });
  await plan.report();
  const secret = newSecret();
  await runner.help.bring(plan.run, { status: 'apply_queued', 'apply.claimHash': hashSecret(secret) });
  const { body } = await plan.claim(`${plan.run}.apply.${secret}`);
  expect(body.planUrl).toMatch(/^https?:/);
});
