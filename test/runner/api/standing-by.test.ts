import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '#clients/client/client.ts';
import type { NextAnswer, ReportAnswer } from '#run/protocols/runner.ts';
import { startRunnerApi } from '#test/support/runner-api.ts';

/** Responses to a runner that stands by after its plan. */

let runner: Awaited<ReturnType<typeof startRunnerApi>>;
beforeAll(async () => {
  runner = await startRunnerApi();
});
afterAll(() => runner.close());

const next = async (token: string): Promise<NextAnswer> => (await runner.call(token, 'next')).body;

/** The final response: on a busy machine the runner may have to poll more than once. */
const inTheEnd = async (token: string, asked: Promise<NextAnswer>): Promise<NextAnswer> => {
  const answer = await asked;
  return answer.action === 'wait' ? next(token) : answer;
};

const report = async (token: string): Promise<ReportAnswer> =>
  (await runner.call(token, 'report', { outcome: 'finished', hasChanges: true, artifacts: [], timings: {} })).body;

const planning = async (change: Record<string, unknown>) => {
  const claimed = await runner.claim('plan');
  await runner.help.bring(claimed.run, { status: 'planning', wait: { state: 'Planning' }, ...change });
  return claimed;
};

const planned = async (change: Record<string, unknown>) => {
  const claimed = await planning(change);
  await report(claimed.token);
  return claimed;
};

const offer = (run: string) =>
  runner.help.bring(run, {
    status: 'apply_queued',
    wait: { state: 'ApplyQueued' },
    'apply.offeredAt': new Date().toISOString(),
  });

it('a runner gets the apply in the response to its report, and again when the response was lost', async () => {
  const { run, token } = await planning({ autoApply: true, appliesFor: ['user-1'] });
  const answered = report(token);
  await until(async () => (await runner.help.store.getRun(run))?.plan.report, Boolean, 5000);
  await offer(run);
  const apply = { next: 'hold', job: { runId: run, phase: 'apply' } };
  // On a busy machine the runner may have to poll more than once.
  const first = await answered;
  if (first.job) expect(first).toMatchObject(apply);
  const second = await report(token);
  expect(second).toMatchObject(apply);
  expect(second.job?.token).not.toBe(first.job?.token);
  expect((await runner.call(second.job?.token as string, 'heartbeat')).status).toBe(200);
  if (first.job) expect((await runner.call(first.job.token, 'heartbeat')).status).toBe(410);
});

it('a runner has to exit after its report if its run was canceled', async () => {
  const { run, token } = await planning({ autoApply: true, appliesFor: ['user-1'] });
  await runner.help.bring(run, { cancel: { by: 'user-1', at: '', forceAvailableAt: '' } });
  expect(await report(token)).toMatchObject({ next: 'exit' });
});

it('a runner waits with one request for an apply that will be offered soon', async () => {
  const { run, token } = await planned({ autoApply: true, appliesFor: ['user-1'] });
  const asked = next(token);
  // The response does not arrive before the offer.
  const first = await Promise.race([
    asked,
    until(async () => runner.help.store.getRun(run), Boolean, 1000).then(() => 'nothing'),
  ]);
  expect(first).toBe('nothing');
  await offer(run);
  expect(await inTheEnd(token, asked)).toMatchObject({ action: 'apply', job: { runId: run, phase: 'apply' } });
});

it('a runner gets an immediate response if the run waits for a decision', async () => {
  const { token } = await planned({ wait: { state: 'NeedsConfirmation' } });
  expect(await next(token)).toEqual({ action: 'wait', afterMs: 0 });
});

it('a runner exits when the run is canceled while it waits', async () => {
  const { run, token } = await planned({ autoApply: true, appliesFor: ['user-1'] });
  const asked = next(token);
  await runner.help.bring(run, { cancel: { by: 'user-1', at: '', forceAvailableAt: '' } });
  expect(await inTheEnd(token, asked)).toEqual({ action: 'exit' });
});

describe('an apply without a decision', () => {
  const wait = { state: 'Planning', token: 'token' };
  const ready = async (change: Record<string, unknown> = {}) => {
    const appliesFor = [runner.api.userId];
    return planning({
      'plan.taskArn': 'arn:plan',
      'plan.status': 'running',
      autoApply: true,
      appliesFor,
      wait,
      ...change,
    });
  };
  const stored = (run: string) => runner.help.store.getRun(run);

  it('comes with the response to the report, in one write, and again if the response was lost', async () => {
    const { run, token } = await ready();
    const first = await report(token);
    expect(first).toMatchObject({ next: 'hold', job: { runId: run, phase: 'apply' } });
    expect(await stored(run)).toMatchObject({
      status: 'apply_queued',
      plan: { status: 'finished', report: { outcome: 'finished' } },
      apply: { status: 'queued', taskArn: 'arn:plan' },
      wait: { state: 'Planning' },
    });
    expect(Object.keys((await stored(run))?.statusTimestamps ?? {})).toEqual(
      expect.arrayContaining(['planned-at', 'apply-queued-at']),
    );
    const second = await report(token);
    expect(second).toMatchObject({ next: 'hold', job: { runId: run, phase: 'apply' } });
    expect((await runner.call(second.job?.token as string, 'heartbeat')).status).toBe(200);
    expect((await runner.call(first.job?.token as string, 'heartbeat')).status).toBe(410);
  });

  it('skips ApplyQueued', async () => {
    const { run, token } = await ready();
    await report(token);
    const { enterState } = await import('#lifecycle/phases/progress.ts');
    // The function that entered Planning is retried, with another token, after the apply has started.
    const again = { token: 'another', entered: '2099-01-01T00:00:00.000Z', attempt: 1 } as const;
    expect((await enterState(run, 'Planning', again)).status).toBe('apply_queued');
    const told = runner.api.aws.sent.filter(({ action }) => action === 'SendTaskSuccess').slice(-2);
    expect(told.map(({ input }) => [input.taskToken, JSON.parse(String(input.output))])).toEqual([
      ['token', { next: 'Applying' }],
      ['another', { next: 'Applying' }],
    ]);
    expect((await enterState(run, 'Applying', { token: 'applying' })).status).toBe('applying');
  });

  it.each<[string, Record<string, unknown>]>([
    ['its author may not apply any more', { appliesFor: ['user-gone'] }],
    ['a person has to confirm it', { autoApply: false }],
  ])('is queued when %s', async (_, change) => {
    const { run, token } = await ready(change);
    const answered = report(token);
    await until(async () => (await stored(run))?.plan.report, Boolean, 5000);
    const now = await stored(run);
    expect(now).toMatchObject({ status: 'planning', apply: { status: 'pending' } });
    expect(now?.apply.claimNonce).toBeUndefined();
    expect((await answered).job).toBeUndefined();
  });
});
