import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../../functions/cli/client.ts';
import type { NextAnswer } from '../../functions/runner/protocol.ts';
import { type Api, eventOf, startApi } from '../support/api.ts';
import { runHelpers } from '../support/runs.ts';

/** What a runner that stands by after its plan is told. */

let api: Api;
let help: Awaited<ReturnType<typeof runHelpers>>;
let next: (token: string) => Promise<NextAnswer>;
/** What it is told in the end: a machine that is busy with other tests may take longer than one request waits. */
const inTheEnd = async (token: string, asked: Promise<NextAnswer>): Promise<NextAnswer> => {
  const answer = await asked;
  return answer.action === 'wait' ? next(token) : answer;
};
let planned: (change: Record<string, unknown>) => Promise<{ run: string; token: string }>;
beforeAll(async () => {
  api = await startApi();
  help = await runHelpers(api);
  Object.assign(process.env, { HEARTBEAT_SECONDS: '5', HOLD_SECONDS: '120', TERRAFORM_ENGINE: 'terraform' });
  const { handler } = await import('../../functions/callbacks/runner.ts');
  const { claimPhase } = await import('../../functions/store/runs/phases.ts');
  const { hashSecret, newSecret } = await import('../../functions/store/id.ts');
  const call = async (token: string, name: string, body?: object) => {
    const event: APIGatewayProxyEventV2 = eventOf('POST', `/runner/v1/${name}`, { token, body });
    const { body: text } = await handler(event);
    return JSON.parse(text ?? '{}');
  };
  next = (token) => call(token, 'next');
  planned = async (change) => {
    const { id: workspace } = await api.workspace();
    await api.configuration(workspace);
    const { id } = await help.create(workspace);
    const secret = newSecret();
    await help.bring(id, { status: 'plan_queued', 'plan.claimHash': hashSecret(secret) });
    const claimed = await claimPhase(`${id}.plan.${secret}`, 'nonce');
    if (!claimed) throw new Error('not claimed');
    await help.bring(id, { status: 'planning', wait: { state: 'Planning' }, ...change });
    await call(claimed.token, 'report', { outcome: 'finished', hasChanges: true, artifacts: [], timings: {} });
    return { run: id, token: claimed.token };
  };
});
afterAll(() => api.close());

it('waits with one request for the apply that is about to be offered', async () => {
  const { run, token } = await planned({ autoApply: true });
  const asked = next(token);
  // The answer is not there before the offer is.
  const first = await Promise.race([
    asked,
    until(async () => help.store.getRun(run), Boolean, 1000).then(() => 'nothing'),
  ]);
  expect(first).toBe('nothing');
  await help.bring(run, {
    status: 'apply_queued',
    wait: { state: 'ApplyQueued' },
    'apply.offeredAt': new Date().toISOString(),
  });
  expect(await inTheEnd(token, asked)).toMatchObject({ action: 'apply', job: { runId: run, phase: 'apply' } });
});

it('is told at once that a person has to decide', async () => {
  const { token } = await planned({ wait: { state: 'NeedsConfirmation' } });
  expect(await next(token)).toEqual({ action: 'wait', afterMs: 0 });
});

it('goes when the run is canceled while it waits', async () => {
  const { run, token } = await planned({ autoApply: true });
  const asked = next(token);
  await help.bring(run, { cancel: { by: 'user-1', at: '', forceAvailableAt: '' } });
  expect(await inTheEnd(token, asked)).toEqual({ action: 'exit' });
});
