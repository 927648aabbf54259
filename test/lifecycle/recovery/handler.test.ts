import { beforeEach, expect, it } from 'vitest';
import type { Run } from '#run/run.ts';
import { startApi } from '#test/support/api.ts';
import { runHelpers } from '#test/support/runs.ts';
import { stateFile } from '#test/support/state.ts';

/** After the table was restored: later states become current again, and everything that was running ends. */

const api = await startApi();
const help = await runHelpers(api);
const store = {
  ...(await import('#platform/store/bucket.ts')),
  ...(await import('#platform/store/integrity.ts')),
  ...(await import('#platform/store/keys.ts')),
  ...(await import('#platform/store/table.ts')),
  recover: (await import('#lifecycle/recovery/handler.ts')).handler,
};
beforeEach(() => {
  api.aws.sent.length = 0;
  api.aws.containers.length = 0;
  api.aws.running.length = 0;
});

/** Before everything that a test creates. */
const before = new Date(Date.now() - 60_000).toISOString();
const recover = (restoredTo = before) => store.recover({ restoredTo });

/** Stores a state whose record the restored table does not have. */
const storeLater = async (workspaceId: string, id: string, content: string, sha256 = store.sha256Of(content)) => {
  const key = store.objects.state(workspaceId, id, sha256);
  await store.putObject(key, content);
  return key;
};
const workspace = async (attributes: object = {}) => (await api.workspace(attributes)).id as string;
const shown = async (id: string) => (await api.get(`workspaces/${id}`)).body.data;
const currentSerial = async (id: string) =>
  (await api.get(`workspaces/${id}/current-state-version`)).body.data.attributes.serial;

it.each([{}, { restoredTo: 'yesterday' }, { restoredTo: new Date(Date.now() + 3_600_000).toISOString() }])(
  'the input %j is rejected with the remedy',
  async (input) => {
    await expect(store.recover(input)).rejects.toThrow('Send {"restoredTo": "…"}. restoredTo: ');
  },
);

it("the newest later state becomes its workspace's, whose next run starts", async () => {
  const { id } = await help.ready();
  await storeLater(id, 'sv-older', stateFile({ serial: 2 }).text);
  await new Promise((resolve) => setTimeout(resolve, 1100));
  await storeLater(id, 'sv-newest', stateFile({ serial: 3 }).text);
  const early = await workspace();
  await storeLater(early, 'sv-early', stateFile().text);
  await store.putObject(`states/${id}/note.txt`, 'no state');
  const after = new Date(Date.now() + 2_000).toISOString();
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  expect(await recover(after), 'stored before the restore time').toMatchObject({ statesBroughtIn: [] });

  const result = await recover();
  expect(result.statesLeft).toEqual([]);
  expect(result.statesBroughtIn).toContainEqual({ workspaceId: id, serial: 3 });
  expect(result.statesBroughtIn).toContainEqual({ workspaceId: early, serial: 1 });
  expect(await currentSerial(id)).toBe(3);
  expect((await shown(id)).attributes.locked).toBe(false);
  expect(await recover(), 'repeated').toMatchObject({ statesBroughtIn: [], statesLeft: [], done: true });
});

it('a state that cannot be brought in is reported with the reason', async () => {
  const [damaged, invalid, newer] = [await workspace(), await workspace(), await workspace()];
  const keys = [
    await storeLater(damaged, 'sv-damaged', 'other content', '0'.repeat(64)),
    await storeLater(invalid, 'sv-invalid', '{}'),
    await storeLater('ws-0000000000000000', 'sv-unknown', stateFile().text),
  ];
  await storeLater(newer, 'sv-newer', stateFile().text);
  const state = { id: 'sv-since', serial: 9, lineage: 'l', md5: 'm', resources: 0 };
  const at = new Date(Date.now() + 60_000).toISOString();
  await store.update(store.keys.workspace(newer), { set: { state: { ...state, at } } });
  const { statesLeft, statesBroughtIn } = await recover();
  expect(statesBroughtIn).toEqual([]);
  expect(statesLeft).toHaveLength(3);
  expect(statesLeft).toEqual(
    expect.arrayContaining([
      { workspaceId: damaged, key: keys[0], why: expect.stringContaining('checksum') },
      { workspaceId: invalid, key: keys[1], why: expect.stringContaining('only version 4 is supported') },
      { workspaceId: 'ws-0000000000000000', key: keys[2], why: 'The workspace does not exist in the restored data.' },
    ]),
  );
  for (const id of [damaged, invalid]) expect((await shown(id)).attributes.locked).toBe(false);
  for (const key of keys) await store.putObject(key, '');
});

it('a state is written for the holder of the lock, who keeps it', async () => {
  const id = await workspace();
  await api.call('POST', `workspaces/${id}/actions/lock`, { body: { reason: 'mine' } });
  await storeLater(id, 'sv-held', stateFile({ serial: 5 }).text);
  expect((await recover()).statesBroughtIn).toEqual([{ workspaceId: id, serial: 5 }]);
  expect((await shown(id)).attributes.locked).toBe(true);
  const { id: held } = await help.ready();
  const run = await help.create(held);
  await storeLater(held, 'sv-run', stateFile({ serial: 6 }).text);
  expect((await recover()).statesBroughtIn).toEqual([{ workspaceId: held, serial: 6 }]);
  const { relationships } = (await api.get(`workspaces/${held}/current-state-version`)).body.data;
  expect(relationships.run.data.id).toBe(run.id);
  expect((await shown(held)).attributes.locked).toBe(false);
});

it('runs end with the reason once all containers have stopped, newest first, and orphaned executions are stopped', async () => {
  const { id } = await help.ready();
  const [first, second] = [await help.create(id), await help.create(id)];
  await help.bring(first.id, { status: 'applying', 'apply.status': 'running', 'plan.status': 'finished' });
  api.aws.running.push(first.id, 'run-unknown');
  api.aws.containers.push({ taskId: 'x', startedBy: first.id, environment: {}, createdAt: 0, ignoresStop: true });
  const waits = { done: false, runnersStopping: 1, runsEnded: [], executionsStopped: [] };
  expect(await recover()).toMatchObject({ ...waits, next: expect.stringContaining('again in a minute') });

  api.aws.containers.length = 0;
  const done = await recover();
  expect(done).toMatchObject({
    done: true,
    runnersStopping: 0,
    runsStopping: [],
    next: expect.stringContaining('start a plan'),
  });
  expect(done.runsEnded).toEqual([second.id, first.id]);
  expect(done.executionsStopped).toEqual([first.id, 'run-unknown']);
  expect(api.aws.sent.filter(({ action }) => action === 'StopExecution')).toHaveLength(2);
  for (const { id: runId } of [first, second]) {
    const run = (await help.store.getRun(runId)) as Run;
    expect(run).toMatchObject({ status: 'errored', endReason: expect.stringContaining(`restored to ${before}`) });
  }
  expect((await help.store.getRun(first.id))?.apply.status).toBe('errored');
});

it('the run of an agent that is still stopping is reported, and its execution continues', async () => {
  const run = await help.create((await help.ready()).id);
  const agent = { id: 'agent-1', name: 'a' };
  await help.bring(run.id, { status: 'planning', 'plan.agent': agent, 'plan.claimNonce': 'n' });
  api.aws.running.push(run.id);
  expect(await recover()).toMatchObject({ done: false, runsStopping: [run.id], executionsStopped: [] });
  await help.bring(run.id, { 'plan.stop': { killAt: '', goneAt: '2020-01-01T00:00:00.000Z' } });
  expect(await recover()).toMatchObject({ done: true, runsEnded: [run.id], executionsStopped: [run.id] });
});
