import { beforeEach, expect, it, vi } from 'vitest';
import type { AutoDestroyEvent } from '#run/notifications/auto-destroy.ts';
import type { Run } from '#run/run.ts';
import { startAws } from '#test/support/aws.ts';
import { newRun } from '#test/support/run.ts';

/** The functions that learn of a run's new status. */

const aws = await startAws();
process.env.ENVIRONMENT_SETTLE_FUNCTION = 'EnvironmentSettleFunction';
const store = await import('#lifecycle/phases/notifications.ts');
beforeEach(() => {
  aws.invoked.length = 0;
});

const commit = { sha: 'a' } as unknown as NonNullable<Run['commit']>;

it.each<[Partial<Run>, string[]]>([
  [{ status: 'applied' }, []],
  [{ status: 'applied', notifies: true }, ['NotifyFunction']],
  [{ status: 'confirmed', notifies: true }, []],
  [{ status: 'planning', commit }, ['CommitStatusFunction']],
  [{ status: 'planning', environment: 'build 1' }, ['EnvironmentLogsFunction']],
  [{ status: 'applied', environment: 'env-1' }, ['EnvironmentSettleFunction']],
])('a run with %j invokes %j', async (change, names) => {
  const run = newRun(change);
  await store.notify(run);
  expect(aws.invoked.map(({ name }) => name)).toEqual(names);
  const expected = run.environment && run.status === 'planning' ? { job: run.environment } : { runId: run.id };
  for (const { event } of aws.invoked) expect(event).toMatchObject(expected);
});

it.each([
  ['planning', []],
  ['applied', ['TraceFunction']],
  ['canceled', ['TraceFunction']],
] as const)('with a receiver of traces, a run that is %s invokes %j', async (status, names) => {
  vi.stubEnv('OTLP_ENDPOINT', 'https://otlp.example.com');
  vi.stubEnv('TRACE_FUNCTION', 'TraceFunction');
  const run = newRun({ status });
  await store.notify(run);
  vi.unstubAllEnvs();
  expect(aws.invoked).toEqual(names.map((name) => ({ name, event: { runId: run.id } })));
});

it('a run continues when none of them can be invoked', async () => {
  const error = vi.spyOn(console, 'error').mockImplementation(() => {});
  for (let call = 1; call <= 3; call++) {
    aws.failCall(call, 'before');
    await store.notify(newRun({ status: 'applied', commit, notifies: true, environment: 'env-1' }));
  }
  expect(error).toHaveBeenCalledTimes(3);
  error.mockRestore();
});

it('an automatic destruction notifies of its run, if the workspace has notifications', async () => {
  const workspace = { id: 'ws-1' } as Parameters<typeof store.notifyAutoDestroy>[0];
  const { id, status, createdAt } = newRun({ status: 'applied' });
  const notice = { kind: 'results', at: '2026-01-01T00:00:00.000Z' } as const;
  await store.notifyAutoDestroy(workspace, notice);
  expect(aws.invoked).toEqual([]);
  const notified = { ...workspace, notifications: new Set(['nc-1']) };
  await store.notifyAutoDestroy(notified, { ...notice, run: newRun({ status: 'applied' }) });
  await store.notifyAutoDestroy(notified, notice);
  expect(aws.invoked.map(({ event }) => event)).toMatchObject([
    { kind: 'autoDestroy', workspaceId: 'ws-1', notice: { ...notice, run: { id, status, createdAt } } },
    { notice },
  ]);
  expect((aws.invoked[1]?.event as AutoDestroyEvent | undefined)?.notice.run).toBeUndefined();
});
