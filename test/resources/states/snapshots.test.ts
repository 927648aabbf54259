import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Resource } from '#clients/client/client.ts';
import type { StateVersion } from '#resources/states/state-version.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import type { Run } from '#run/run.ts';
import { startRunnerApi } from '#test/support/runner-api.ts';
import { resource, stateFile } from '#test/support/state.ts';

/** State snapshots of an apply, and those that remain after it. */

const runner = await startRunnerApi();
const store = {
  ...(await import('#resources/states/snapshots.ts')),
  ...(await import('#resources/states/records.ts')),
  ...(await import('#lifecycle/phases/finish.ts')),
  ...(await import('#platform/formats/state-changes.ts')),
  ...(await import('#resources/runs/records.ts')),
  ...(await import('#platform/store/bucket.ts')),
  ...(await import('#platform/store/keys.ts')),
  ...(await import('#platform/store/table.ts')),
  ...(await import('#resources/workspaces/records.ts')),
};

const stateOf = (serial: number, names: string[]): string =>
  stateFile({ serial, lineage: 'l', resources: names.map((name) => resource('terraform_data', name)) }).text;
const hash = (algorithm: string, text: string): string => createHash(algorithm).update(text).digest('hex');

type Claimed = Awaited<ReturnType<typeof runner.claim>>;

const whole = async ({ token }: Claimed, serial: number, names: string[], intermediate = true): Promise<string> => {
  const text = stateOf(serial, names);
  const content = Buffer.from(text).toString('base64');
  const body = { serial, lineage: 'l', md5: hash('md5', text), size: text.length, intermediate, content };
  const answer = await runner.call(token, 'state-versions', body);
  expect(answer.status).toBe(200);
  return answer.body.id;
};
const changed = async ({ token }: Claimed, before: string, after: string, first = false) => {
  const changes = store.changesBetween(Buffer.from(before), Buffer.from(after)).toString('base64');
  return runner.call(token, 'state-changes', { before: hash('md5', before), first, changes });
};
const runOf = async ({ run }: Claimed): Promise<Run> => (await store.getRun(run)) as Run;
const list = async ({ workspace }: Claimed) => {
  const { id, organization } = (await store.getWorkspace(workspace)) as Workspace;
  const { name } = (await store.getWorkspace(id)) as Workspace;
  const filter = `filter[organization][name]=${organization}&filter[workspace][name]=${name}`;
  return (await runner.api.get(`state-versions?${filter}`)).body;
};
const shown = ({ data, meta }: Awaited<ReturnType<typeof list>>) => [
  data.map(({ attributes }: Resource) => `${attributes.serial}${attributes.intermediate ? ' intermediate' : ''}`),
  meta.pagination['total-count'],
];
const namesIn = async ({ workspace }: Claimed): Promise<string[]> => {
  const { body } = await runner.api.get(`workspaces/${workspace}/current-state-version`);
  return body.data.attributes.resources.map(({ name }: { name: string }) => name);
};
const isEmpty = async ({ workspace }: Claimed, id: string, text: string): Promise<boolean> =>
  (await store.getObject(store.objects.state(workspace, id, hash('sha256', text))))?.length === 0;

/** An apply that has stored two snapshots and its final state. */
const withSnapshots = async () => {
  const claimed = await runner.claim('apply');
  const before = await whole(claimed, 1, ['a'], false);
  for (const serial of [2, 3]) await whole(claimed, serial, ['a', `r${serial}`]);
  return { claimed, before, last: await whole(claimed, 4, ['a', 'b'], false) };
};

describe('state versions of a run that has ended', () => {
  it('keep only the last one, which follows the one before the run', async () => {
    const claimed = await runner.claim('apply');
    const before = await whole(claimed, 1, ['a'], false);
    const first = await whole(claimed, 2, ['a', 'b']);
    const second = await whole(claimed, 3, ['a', 'b', 'c']);
    const last = await whole(claimed, 4, ['a', 'b', 'c', 'd'], false);
    expect(shown(await list(claimed))).toEqual([['4', '3 intermediate', '2 intermediate', '1'], 4]);

    await store.deleteSuperseded(await runOf(claimed));
    expect(shown(await list(claimed))).toEqual([['4', '1'], 2]);
    expect((await store.getStateVersion(last))?.previousId).toBe(before);
    expect((await runner.api.get(`state-versions/${first}`)).status).toBe(404);
    expect((await runner.api.get(`state-versions/${second}/download`)).status).toBe(404);
    expect(await isEmpty(claimed, first, stateOf(2, ['a', 'b']))).toBe(true);
    const kept = runner.api.storage.objects().filter((key) => key.includes(first));
    const contents = await Promise.all(kept.map(async (key) => (await store.getObject(key))?.length));
    expect(contents, 'neither state nor outputs of a snapshot').toEqual(kept.map(() => 0));
    expect(await namesIn(claimed)).toEqual(['a', 'b', 'c', 'd']);
    expect((await runOf(claimed)).apply.snapshotsFrom).toBeUndefined();
  });

  it('of a deleted workspace are left to its removal', async () => {
    const { claimed } = await withSnapshots();
    await store.remove(store.keys.workspace(claimed.workspace));
    await store.deleteSuperseded(await runOf(claimed));
    expect((await runOf(claimed)).apply.snapshotsFrom).toBeUndefined();
  });

  it('cost nothing without snapshots', async () => {
    const claimed = await runner.claim('apply');
    await whole(claimed, 1, ['a'], false);
    const run = await runOf(claimed);
    const { calls } = runner.api.aws;
    await store.deleteSuperseded(run);
    expect(runner.api.aws.calls).toBe(calls);
  });

  it('keep a snapshot if it is the last one', async () => {
    const claimed = await runner.claim('apply');
    await whole(claimed, 1, ['a']);
    const last = await whole(claimed, 2, ['a', 'b']);
    await store.updateRun(claimed.run, { set: { 'apply.report': { outcome: 'finished', stateVersionId: last } } });
    await store.deleteSuperseded(await runOf(claimed));
    expect(shown(await list(claimed))).toEqual([['2'], 1]);
    expect((await store.getStateVersion(last))?.previousId, 'there was none before the run').toBeUndefined();

    const killed = await runner.claim('apply');
    await whole(killed, 1, ['a']);
    await whole(killed, 2, ['a', 'b']);
    await store.deleteSuperseded(await runOf(killed));
    expect(shown(await list(killed))).toEqual([['2 intermediate'], 1]);
    await store.updateRun(killed.run, { set: { 'apply.snapshotsFrom': 1 } });
    await store.update(store.keys.workspace(killed.workspace), { set: { 'state.id': 'sv-forced' } });
    await store.deleteSuperseded(await runOf(killed));
    expect(shown(await list(killed)), 'after a forced write').toEqual([['2 intermediate'], 1]);
  });

  it('show whether the workspace has the final state of the apply', async () => {
    const claimed = await runner.claim('apply');
    const hasLast = async () => store.hasLastState(await runOf(claimed));
    expect(await hasLast(), 'without a state').toBe(false);
    await whole(claimed, 1, ['a']);
    expect(await hasLast(), 'with a snapshot').toBe(false);
    await whole(claimed, 2, ['a'], false);
    expect(await hasLast()).toBe(true);
    expect(await store.hasLastState({ ...(await runOf(claimed)), id: 'run-aaaaaaaaaaaaaaaa' }), 'of another run').toBe(
      false,
    );
  });

  it('keep the history of each resource', async () => {
    const claimed = await runner.claim('apply');
    await whole(claimed, 1, ['a']);
    const last = await whole(claimed, 2, ['a', 'b'], false);
    const summary = await store.readSummary((await store.getStateVersion(last)) as StateVersion);
    expect(summary?.instances?.map(({ changes }) => changes?.map(({ version }) => version))).toEqual([[last], [last]]);
  });

  it('finish an interrupted deletion', async () => {
    let whole = false;
    for (let call = 1; !whole; call++) {
      const { claimed, before, last } = await withSnapshots();
      const run = await runOf(claimed);
      runner.api.aws.failCall(call, call % 2 ? 'before' : 'after');
      await store.deleteSuperseded(run).catch(() => {});
      whole = runner.api.aws.pendingFault;
      await store.deleteSuperseded(run).catch(() => {});
      await store.deleteSuperseded(await runOf(claimed));
      expect(shown(await list(claimed))).toEqual([['4', '1'], 2]);
      expect((await store.getStateVersion(last))?.previousId).toBe(before);
      if (call > 30) break;
    }
    expect(whole).toBe(true);
  });
});

describe('changes of a state', () => {
  it('become a state version when the runner ends without a final one', async () => {
    const claimed = await runner.claim('apply');
    await whole(claimed, 1, ['a']);
    const states = [['a'], ['a', 'b'], ['a', 'b', 'c']].map((names, n) => stateOf(n + 1, names));
    const [one = '', two = '', three = ''] = states;
    expect((await changed(claimed, one, two, true)).status).toBe(200);
    // The response was lost, and Terraform has continued meanwhile.
    expect((await changed(claimed, one, three, true)).status).toBe(200);
    expect(await namesIn(claimed)).toEqual(['a']);
    expect((await runOf(claimed)).apply.changesKept).toBe(true);

    await store.updateRun(claimed.run, { set: { status: 'applying', 'apply.status': 'running' } });
    const ended = await store.finishRun(claimed.run, 'ApplyErrored', { Error: 'States.HeartbeatTimeout' });
    expect(ended?.endReason).toContain('The state may be stale');
    expect(await namesIn(claimed)).toEqual(['a', 'b', 'c']);
    expect(shown(await list(claimed))).toEqual([['3 intermediate'], 1]);
    // Resources that Terraform was changing are in no state.
    expect((await store.getWorkspace(claimed.workspace))?.lock?.unsaved).toMatchObject({ serial: 4, lost: true });
  });

  it('are not applied again after the last state, nor twice', async () => {
    const claimed = await runner.claim('apply');
    await whole(claimed, 1, ['a']);
    await changed(claimed, stateOf(1, ['a']), stateOf(2, ['a', 'b']), true);
    await changed(claimed, stateOf(2, ['a', 'b']), stateOf(3, ['a', 'b', 'c']));
    const run = await runOf(claimed);
    // The first read is the workspace's, the second one that of its state.
    runner.api.aws.failCall(2, 'before');
    await expect(store.recoverState(run), 'which is repeated').rejects.toThrow();
    for (let n = 0; n < 2; n++) await store.recoverState(run);
    expect(shown(await list(claimed))[0]).toEqual(['3 intermediate', '1 intermediate']);
    await whole(claimed, 4, ['a', 'd'], false);
    await store.recoverState(await runOf(claimed));
    expect(await namesIn(claimed)).toEqual(['a', 'd']);
  });

  it('are not applied when the runner has reported its final state', async () => {
    const claimed = await runner.claim('apply');
    const last = await whole(claimed, 1, ['a'], false);
    await changed(claimed, stateOf(1, ['a']), stateOf(2, ['a', 'b']), true);
    await store.updateRun(claimed.run, { set: { 'apply.report': { outcome: 'finished', stateVersionId: last } } });
    await store.recoverState(await runOf(claimed));
    expect(await namesIn(claimed)).toEqual(['a']);
  });

  it('are rejected when they do not follow the workspace’s state, or come from a plan', async () => {
    const claimed = await runner.claim('apply');
    await whole(claimed, 1, ['a']);
    const other = await changed(claimed, stateOf(1, ['other']), stateOf(2, ['b']), true);
    expect([other.status, other.body.error]).toEqual([409, expect.stringContaining('before')]);
    expect((await runner.call(claimed.token, 'state-changes', { before: 'x', first: true, changes: '' })).status).toBe(
      422,
    );
    const plan = await runner.claim('plan');
    expect((await changed(plan, '{}', '{}', true)).status).toBe(409);
  });

  it('that lead back to an earlier state are read once', async () => {
    const claimed = await runner.claim('apply');
    await whole(claimed, 1, ['a']);
    const [one, two] = [stateOf(1, ['a']), stateOf(2, ['a', 'b'])];
    await changed(claimed, one, two, true);
    await changed(claimed, two, one);
    const run = await runOf(claimed);
    const before = runner.api.storage.calls.length;
    await store.recoverState(run);
    const read = [one, two].map((state) => store.objects.stateChanges(run.id, hash('md5', state)));
    const calls = runner.api.storage.calls.slice(before).filter((call) => read.some((key) => call.endsWith(key)));
    expect(calls).toHaveLength(2);
    expect(await namesIn(claimed)).toEqual(['a']);
  });

  it('are not applied to a state whose content is gone', async () => {
    const claimed = await runner.claim('apply');
    const id = await whole(claimed, 1, ['a']);
    await changed(claimed, stateOf(1, ['a']), stateOf(2, ['a', 'b']), true);
    await store.deleteObject(store.objects.state(claimed.workspace, id, hash('sha256', stateOf(1, ['a']))));
    await store.recoverState(await runOf(claimed));
    expect(shown(await list(claimed))[0]).toEqual(['1 intermediate']);
  });

  it('that cannot be applied keep the last whole state, and the run ends', async () => {
    const claimed = await runner.claim('apply');
    await whole(claimed, 1, ['a']);
    const changes = Buffer.from('no changes').toString('base64');
    const before = hash('md5', stateOf(1, ['a']));
    expect((await runner.call(claimed.token, 'state-changes', { before, first: true, changes })).status).toBe(200);
    await store.recoverState(await runOf(claimed));
    expect(await namesIn(claimed)).toEqual(['a']);
  });
});
