import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Run } from '#run/run.ts';
import { type Api, startApi } from '#test/support/api.ts';
import { ids, runHelpers } from '#test/support/runs.ts';

let api: Api;
let help: Awaited<ReturnType<typeof runHelpers>>;
let finishRun: typeof import('#lifecycle/phases/finish.ts')['finishRun'];
let succeeded: (id: string) => Promise<void>;
beforeAll(async () => {
  api = await startApi();
  help = await runHelpers(api);
  ({ finishRun } = await import('#lifecycle/phases/finish.ts'));
  const { handler } = await import('#lifecycle/phases/run-applied.ts');
  succeeded = (name) => handler({ detail: { name } });
});
afterAll(() => api.close());

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

describe('a run trigger', () => {
  it('can be created, listed from both sides and deleted', async () => {
    const [from, to] = [await api.workspace(), await api.workspace()];
    const response = await connect(from.id, to.id);
    expect(response.status).toBe(201);
    const { data } = response.body;
    expect(data).toMatchObject({
      id: expect.stringMatching(/^rt-\w{16}$/),
      type: 'run-triggers',
      attributes: { 'workspace-name': to.attributes.name, 'sourceable-name': from.attributes.name },
      relationships: { workspace: { data: { id: to.id } }, sourceable: { data: { id: from.id } } },
    });
    expect((await api.get(`run-triggers/${data.id}`)).body.data).toEqual(data);
    const list = (id: string, type: string) =>
      api.get(`workspaces/${id}/run-triggers?filter[run-trigger][type]=${type}`);
    expect(ids((await list(to.id, 'inbound')).body.data)).toEqual([data.id]);
    expect(ids((await list(from.id, 'outbound')).body.data)).toEqual([data.id]);
    expect((await list(from.id, 'inbound')).body.data).toEqual([]);
    expect((await list(from.id, 'sideways')).status).toBe(400);
    expect((await api.get(`workspaces/${to.id}/run-triggers`)).status).toBe(400);
    const { included } = (await api.get(`run-triggers/${data.id}?include=workspace,sourceable`)).body;
    expect(ids(included)).toEqual([to.id, from.id]);
    expect((await api.call('DELETE', `run-triggers/${data.id}`)).status).toBe(204);
    expect((await api.get(`run-triggers/${data.id}`)).status).toBe(404);
    expect((await connect(from.id, to.id)).status).toBe(201);
  });

  it('is rejected for duplicates, itself, loops and hidden workspaces', async () => {
    const [a, b, c] = [await api.workspace(), await api.workspace(), await api.workspace()];
    await connect(a.id, b.id);
    await connect(b.id, c.id);
    const refused = async (from: string, to: string) => {
      const answer = await connect(from, to);
      expect([answer.status, answer.body.errors[0].source.pointer]).toEqual([422, '/data/relationships/sourceable']);
      return answer.body.errors[0].detail;
    };
    expect(await refused(a.id, b.id)).toMatch(/^sourceable: applies in .* already queue runs/);
    expect(await refused(a.id, a.id)).toMatch(/^sourceable: applies in .* endless loop/);
    expect(await refused(c.id, a.id)).toMatch(/^sourceable: applies in .* endless loop/);
    expect(await refused('ws-unknown', a.id)).toMatch(/^sourceable: workspace ws-unknown not found/);
    expect((await api.post(`workspaces/${a.id}/run-triggers`, {})).status).toBe(422);
    const writer = await help.user('write');
    expect((await connect(a.id, c.id, { token: writer.token })).status).toBe(403);
  });

  it('is deleted with either workspace', async () => {
    const [a, b, c] = [await api.workspace(), await api.workspace(), await api.workspace()];
    const [one, two] = [await connect(a.id, b.id), await connect(b.id, c.id)];
    expect((await api.call('DELETE', `workspaces/${b.id}`)).status).toBe(204);
    for (const { body } of [one, two]) expect((await api.get(`run-triggers/${body.data.id}`)).status).toBe(404);
    const outbound = await api.get(`workspaces/${a.id}/run-triggers?filter[run-trigger][type]=outbound`);
    expect(outbound.body.meta.pagination['total-count']).toBe(0);
  });

  it('is limited to 20 source workspaces', async () => {
    const { createRunTrigger } = await import('#resources/runs/triggers.ts');
    const { id: workspaceId } = await api.workspace();
    for (let n = 0; n < 20; n++) await createRunTrigger('acme', { workspaceId, sourceableId: `ws-source${n}` });
    expect((await connect((await api.workspace()).id, workspaceId)).body.errors[0].detail).toMatch(/20 workspaces/);
  });
});

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
