import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PhaseName } from '#run/run.ts';
import { startRunnerApi } from '#test/support/runner-api.ts';

/** How a heartbeat reaches the execution, and how the runner reacts to the response. */

let runner: Awaited<ReturnType<typeof startRunnerApi>>;
beforeAll(async () => {
  runner = await startRunnerApi();
});
afterAll(() => runner.close());

const states = { plan: 'Planning', apply: 'Applying' } as const;
const statuses = { plan: 'planning', apply: 'applying' } as const;

/** A running phase, with changes to its run. */
const working = async (phase: PhaseName, change: Record<string, unknown> = {}) => {
  const claimed = await runner.claim(phase);
  const token = `${claimed.run} token`;
  await runner.help.bring(claimed.run, { status: statuses[phase], wait: { state: states[phase], token }, ...change });
  const passedOn = () =>
    runner.api.aws.sent.filter(({ action, input }) => action === 'SendTaskHeartbeat' && input.taskToken === token)
      .length;
  return { ...claimed, passedOn };
};

const cancel = { by: 'user-1', at: '2026-01-01T00:00:00.000Z', forceAvailableAt: '2026-01-01T00:01:00.000Z' };
const discard = { action: 'discard', by: 'user-1', at: '2026-01-01T00:00:00.000Z' };

describe('a heartbeat', () => {
  it.each<[string, PhaseName, Record<string, unknown>, string]>([
    ['a plan', 'plan', {}, 'continue'],
    ['an apply', 'apply', {}, 'continue'],
    ['a canceled plan', 'plan', { cancel }, 'interrupt'],
    ['a canceled apply', 'apply', { cancel }, 'interrupt'],
    ['a plan of a discarded run', 'plan', { decision: discard }, 'interrupt'],
    ['a canceled apply on an agent', 'apply', { cancel, agentPool: { id: 'apool-1', name: 'a' } }, 'interrupt'],
  ])('of %s reaches the execution', async (_, phase, change, signal) => {
    const { token, passedOn } = await working(phase, change);
    expect((await runner.call(token, 'heartbeat')).body).toEqual({ signal });
    expect((await runner.call(token, 'heartbeat')).body).toEqual({ signal });
    expect(passedOn()).toBe(2);
  });

  it('of a force-canceled run kills Terraform', async () => {
    const { token, passedOn } = await working('apply', {
      cancel: { ...cancel, forced: { by: 'user-1', at: cancel.at } },
    });
    expect((await runner.call(token, 'heartbeat')).body).toEqual({ signal: 'kill' });
    expect(passedOn()).toBe(0);
  });

  it('stores the changes that Terraform must still finish before a canceled apply ends', async () => {
    const open = [{ address: 'aws_db_instance.main', since: '2026-01-01T00:00:00.000Z' }];
    const { run, token } = await working('apply', { cancel });
    const finishing = async () => (await runner.api.get(`runs/${run}`)).body.data.attributes['finishing-resources'];
    expect(await finishing()).toEqual([]);
    expect((await runner.call(token, 'heartbeat', { open })).body).toEqual({ signal: 'interrupt' });
    expect(await finishing()).toEqual(open);
    expect((await runner.call(token, 'heartbeat', { open: [] })).body).toEqual({ signal: 'interrupt' });
    expect(await finishing()).toEqual([]);
    expect((await runner.call(token, 'heartbeat', { open: [{ address: 'a' }] })).status).toBe(422);
  });

  it('writes nothing for a run that was not canceled', async () => {
    const { run, token } = await working('apply');
    await runner.call(token, 'heartbeat', { open: [{ address: 'a.b', since: '2026-01-01T00:00:00.000Z' }] });
    expect((await runner.help.store.getRun(run))?.cancel).toBeUndefined();
  });
});
