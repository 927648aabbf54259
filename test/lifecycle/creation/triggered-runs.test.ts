import { describe, expect, it } from 'vitest';
import type { Run } from '#run/run.ts';
import { startApi } from '#test/support/api.ts';
import { runHelpers } from '#test/support/runs.ts';

const api = await startApi();
const help = await runHelpers(api);
const { finishRun } = await import('#lifecycle/phases/finish.ts');
const { handler } = await import('#lifecycle/phases/run-applied.ts');
const succeeded: (id: string) => Promise<void> = (name) => handler({ detail: { name } });

const sourceable = (id: string) => ({ sourceable: { data: { type: 'workspaces', id } } });
const connect = (from: string, to: string, sent = {}) =>
  api.post(`workspaces/${to}/run-triggers`, {}, sourceable(from), sent);
const runsOf = async (id: string) => (await api.get(`workspaces/${id}/runs`)).body.data;
const applied = async (workspaceId: string): Promise<Run> => {
  const run = await help.create(workspaceId);
  await finishRun(run.id, 'Applied');
  return (await help.store.getRun(run.id)) as Run;
};

/** Reasons in the timeline why an apply queued no run. */
const skipped = async (runId: string): Promise<string[]> => {
  const events: { attributes: { action: string; description: string } }[] = (await api.get(`runs/${runId}/run-events`))
    .body.data;
  return events
    .filter(({ attributes }) => attributes.action === 'run_trigger_skipped')
    .map(({ attributes }) => attributes.description);
};

describe('an apply', () => {
  it("queues one run per trigger with the workspace's auto-apply-run-trigger setting", async () => {
    const source = await api.workspace();
    await api.configuration(source.id);
    const [automatic, manual] = [
      await help.ready({ 'auto-apply-run-trigger': true }),
      await help.ready({ 'auto-apply': true }),
    ];
    for (const { id } of [automatic, manual]) await connect(source.id, id);
    const run = await applied(source.id);
    expect(run.dueAt).toBeDefined();
    await Promise.all([succeeded(run.id), succeeded(run.id)]);
    await succeeded(run.id);
    const [queued, ...more] = await runsOf(automatic.id);
    expect(more).toEqual([]);
    expect(queued).toMatchObject({
      attributes: {
        'auto-apply': true,
        'trigger-reason': 'run_trigger',
        'triggering-source-name': source.attributes.name,
        message: expect.stringContaining(run.id),
      },
      relationships: { 'triggering-source': { data: { id: source.id } }, 'triggering-run': { data: { id: run.id } } },
    });
    expect((await runsOf(manual.id)).map(({ attributes }: { attributes: object }) => attributes)).toMatchObject([
      { 'auto-apply': false },
    ]);
    expect((await help.store.getRun(run.id))?.dueAt).toBeUndefined();
  });

  it('that crashed while queueing is completed by the sweep', async () => {
    const [source, target] = [await help.ready(), await help.ready()];
    await connect(source.id, target.id);
    const run = await applied(source.id);
    api.aws.failCall(6, 'before');
    await expect(succeeded(run.id)).rejects.toThrow();
    const { update } = await import('#platform/store/table.ts');
    const { keys } = await import('#platform/store/keys.ts');
    await update(keys.run(run.id), { set: { dueAt: '2020-01-01T00:00:00.000Z' } });
    const { handler: sweep } = await import('#lifecycle/repair/sweep.ts');
    await sweep();
    expect(await runsOf(target.id)).toHaveLength(1);
    expect((await help.store.getRun(run.id))?.dueAt).toBeUndefined();
  });

  it('costs one extra read without triggers', async () => {
    const { id } = await help.ready();
    const run = await applied(id);
    expect(run.dueAt).toBeUndefined();
    const before = api.aws.calls;
    await succeeded(run.id);
    expect(api.aws.calls - before).toBe(1);
  });

  it.each(['PlannedAndFinished', 'Discarded', 'ApplyErrored'] as const)(
    'is required: %s triggers nothing',
    async (ending) => {
      const [source, target] = [await help.ready(), await help.ready()];
      await connect(source.id, target.id);
      const run = await help.create(source.id);
      await finishRun(run.id, ending);
      await succeeded(run.id);
      expect(await runsOf(target.id)).toEqual([]);
    },
  );

  it('records why it queued no run: no configuration, local execution, or a concurrent loop', async () => {
    const source = await help.ready();
    const [empty, local] = [await api.workspace(), await help.ready()];
    await connect(source.id, empty.id);
    await connect(source.id, local.id);
    await api.patch(`workspaces/${local.id}`, { 'execution-mode': 'local' });
    const { keys } = await import('#platform/store/keys.ts');
    const { put } = await import('#platform/store/table.ts');
    // The result of two concurrent requests.
    const looping = await help.ready();
    await connect(source.id, looping.id);
    const back = {
      id: 'rt-back',
      organization: 'acme',
      workspaceId: source.id,
      sourceableId: looping.id,
      createdAt: '',
    };
    await put({ ...keys.runTrigger(back.id), ...back });
    await put({ ...keys.runTriggerOut(looping.id, source.id), runTriggerId: back.id });

    const run = await applied(source.id);
    await succeeded(run.id);
    expect((await skipped(run.id)).sort()).toEqual([
      expect.stringMatching(/no configuration yet/),
      expect.stringMatching(/execution mode is local/),
    ]);
    const [followed] = await runsOf(looping.id);
    await finishRun(followed.id, 'Applied');
    await succeeded(followed.id);
    expect(await runsOf(source.id)).toHaveLength(1);
    expect(await skipped(followed.id)).toEqual([expect.stringMatching(/its own apply triggered this run/)]);
  });
});
