import { beforeEach, describe, expect, it, vi } from 'vitest';
import { startApi, uniqueName } from '#test/support/api.ts';
import { runHelpers } from '#test/support/runs.ts';
import { stateFile } from '#test/support/state.ts';

/** Data retention policies: their input, and the deletions that they cause. */

const api = await startApi();
const store = {
  ...(await import('#platform/store/keys.ts')),
  ...(await import('#platform/store/table.ts')),
  ...(await import('#removal/retention/delete-old.ts')),
  ...(await import('#removal/retention/handler.ts')),
  ...(await import('#removal/retention/records.ts')),
  ...(await import('#resources/runs/records.ts')),
  ...(await import('#resources/states/records.ts')),
};
beforeEach(() => vi.useRealTimers());

const deletes = 'data-retention-policy-delete-olders';
const keeps = 'data-retention-policy-dont-deletes';
const ofWorkspace = (id: string) => `workspaces/${id}/relationships/data-retention-policy`;
const ofOrganization = (name = 'acme') => `organizations/${name}/relationships/data-retention-policy`;
const send = (method: string, path: string, attributes: object = {}, type = deletes) =>
  api.call(method, path, { body: { data: { type, attributes } } });
const newOrganization = async () =>
  (await api.post('organizations', { name: uniqueName('kept'), email: 'a@example.com' })).body.data.id as string;

describe('a policy', () => {
  it('of a workspace is set, read, changed and removed', async () => {
    const { id } = await api.workspace();
    expect((await api.get(ofWorkspace(id))).status).toBe(404);
    const made = await send('POST', ofWorkspace(id), { deleteOlderThanNDays: 33 });
    expect([made.status, made.body.data]).toMatchObject([
      200,
      {
        id: expect.stringMatching(/^drp-/),
        type: deletes,
        attributes: {
          deleteOlderThanNDays: 33,
          deleteStateVersions: true,
          deleteConfigurationVersions: true,
          deleteRunDataAndLogs: false,
        },
        relationships: { target: { data: { type: 'workspaces', id } } },
      },
    ]);
    const own = {
      deleteStateVersions: false,
      configurationVersionsDeleteAfterNDays: 5,
      runDataAndLogsDeleteAfterNDays: 9,
    };
    const changed = await send('PATCH', ofWorkspace(id), own);
    expect(changed.body.data).toMatchObject({
      id: made.body.data.id,
      attributes: {
        deleteOlderThanNDays: 5,
        stateVersionsDeleteAfterNDays: null,
        configurationVersionsDeleteAfterNDays: 5,
        runDataAndLogsDeleteAfterNDays: 9,
      },
    });
    const none = { deleteStateVersions: false, deleteConfigurationVersions: false };
    for (const one of [{ configurationVersionsDeleteAfterNDays: 9 }, { runDataAndLogsDeleteAfterNDays: 9 }]) {
      expect((await send('PATCH', ofWorkspace(id), { ...none, ...one })).status).toBe(200);
    }
    await send('PATCH', ofWorkspace(id), own);
    expect((await api.get(ofWorkspace(id))).body).toEqual(changed.body);
    expect((await send('PATCH', ofWorkspace(id), none, keeps)).body.data.type).toBe(keeps);
    expect((await api.call('DELETE', ofWorkspace(id))).status).toBe(204);
    expect((await api.get(ofWorkspace(id))).status).toBe(404);
  });

  it('of an organization is set, read and removed', async () => {
    const organization = await newOrganization();
    expect((await api.get(ofOrganization(organization))).status).toBe(404);
    await send('POST', ofOrganization(organization), { deleteOlderThanNDays: 33 });
    expect((await api.get(ofOrganization(organization))).body.data.attributes).toMatchObject({
      deleteOlderThanNDays: 33,
    });
    expect((await api.call('DELETE', ofOrganization(organization))).status).toBe(204);
    expect((await api.get(ofOrganization(organization))).status).toBe(404);
  });

  it.each<[object, string, string]>([
    [{}, deletes, 'deleteOlderThanNDays'],
    [{ deleteOlderThanNDays: 0 }, deletes, 'deleteOlderThanNDays'],
    [{ deleteOlderThanNDays: 1.5 }, deletes, 'deleteOlderThanNDays'],
    [{ deleteOlderThanNDays: 5, stateVersionsKeepLatestCount: 3 }, deletes, 'stateVersionsKeepLatestCount'],
    [{ deleteOlderThanNDays: 5 }, keeps, 'deleteOlderThanNDays'],
    [
      { deleteOlderThanNDays: 5, deleteStateVersions: false, deleteConfigurationVersions: false },
      deletes,
      'deleteOlderThanNDays',
    ],
  ])('rejects %j of type %s', async (attributes, type, field) => {
    const { status, body } = await send('POST', ofOrganization(), attributes, type);
    expect([status, body.errors[0].source.pointer]).toEqual([422, `/data/attributes/${field}`]);
  });

  it('needs a type', async () => {
    expect((await send('POST', ofOrganization(), { deleteOlderThanNDays: 5 }, 'policy')).status).toBe(422);
  });
});

const days = (count: number) => new Date(Date.now() - count * 24 * 3600 * 1000).toISOString();
/** Makes its record look older. */
const age = async (key: 'stateVersion' | 'configurationVersion' | 'run', id: string, by: number) => {
  await store.update(store.keys[key](id), { set: { createdAt: days(by) } });
};
/** Makes its deletion look older. */
const ageDeletion = async (key: 'stateVersion' | 'configurationVersion' | 'run', id: string, by: number) => {
  const set =
    key === 'stateVersion'
      ? { deletedAt: days(by) }
      : key === 'run'
        ? { 'plan.contentDeletedAt': days(by), 'apply.contentDeletedAt': days(by) }
        : { 'statusTimestamps.soft-delete-backing-data-at': days(by) };
  await store.update(store.keys[key](id), { set });
};
const look = async (target: { workspace: string } | { organization: string }) => {
  await store.handler({ due: [store.timerKey(target)] });
};
/** Seconds from a pass to the next one. */
const nextLook = async (workspace: string): Promise<number> => {
  await look({ workspace });
  const timer = await store.get<{ dueAt: string }>(store.keys.workspaceRetention(workspace));
  return Math.round((Date.parse(timer?.dueAt ?? '') - Date.now()) / 1000);
};
const states = async (workspaceId: string, count: number) => {
  await api.call('POST', `workspaces/${workspaceId}/actions/lock`);
  const ids: string[] = [];
  let lineage: string | undefined;
  for (let serial = 1; serial <= count; serial++) {
    const { text, ...attributes } = stateFile({ serial, ...(lineage ? { lineage } : {}) });
    lineage = attributes.lineage;
    const state = Buffer.from(text).toString('base64');
    const { body } = await api.post(`workspaces/${workspaceId}/state-versions`, { ...attributes, state });
    ids.push(body.data.id);
  }
  await api.call('POST', `workspaces/${workspaceId}/actions/unlock`);
  return ids;
};
const statusOfState = async (id: string) => (await api.get(`state-versions/${id}`)).body.data.attributes.status;

describe('the sweep', () => {
  it('deletes old states recoverably for a week, then permanently, and never the current one', async () => {
    const { id } = await api.workspace();
    const [first = '', second = '', third = '', current = ''] = await states(id, 4);
    const all = () => Promise.all([first, second, third, current].map(statusOfState));
    const [deleted, gone] = ['backing_data_soft_deleted', 'backing_data_permanently_deleted'];
    await age('stateVersion', first, 400);
    await age('stateVersion', second, 32);
    await age('stateVersion', current, 100);
    await send('POST', ofWorkspace(id), { deleteOlderThanNDays: 30 });
    await look({ workspace: id });
    expect(await all()).toEqual([deleted, deleted, 'finalized', 'finalized']);
    await ageDeletion('stateVersion', first, 8);
    await ageDeletion('stateVersion', second, 6);
    await age('stateVersion', third, 40);
    await look({ workspace: id });
    expect(await all()).toEqual([gone, deleted, deleted, 'finalized']);
  });

  it('keeps data that a user has restored after its deletion', async () => {
    const { id } = await api.workspace();
    const [first = '', second = ''] = await states(id, 3);
    for (const one of [first, second]) await age('stateVersion', one, 50);
    await send('POST', ofWorkspace(id), { deleteOlderThanNDays: 30 });
    await look({ workspace: id });
    const restored = await api.call('POST', `state-versions/${first}/actions/restore_backing_data`);
    expect(restored.status).toBe(204);
    await ageDeletion('stateVersion', second, 8);
    await look({ workspace: id });
    expect(await Promise.all([first, second].map(statusOfState))).toEqual([
      'finalized',
      'backing_data_permanently_deleted',
    ]);
  });

  it('does not purge data that a longer policy keeps', async () => {
    const organization = await newOrganization();
    const body = { name: uniqueName('w') };
    const id = (await api.post(`organizations/${organization}/workspaces`, body)).body.data.id as string;
    const [old = ''] = await states(id, 2);
    const [configuration] = [(await api.configuration(id)).id, await api.configuration(id)];
    const run = await (await runHelpers(api)).create(id, { 'plan-only': true });
    await store.updateRun(run.id, { set: { status: 'planned_and_finished' } });
    const { place = 0 } = (await store.getRun(run.id)) ?? {};
    await store.remove(store.keys.queued(id, place, run.id));
    await store.update(store.keys.workspace(id), { remove: ['latestRunId'] });
    const each = [
      ['stateVersion', old],
      ['configurationVersion', configuration],
      ['run', run.id],
    ] as const;
    for (const [kind, one] of each) await age(kind, one, 50);
    const deleting = (count: number) =>
      send('POST', ofOrganization(organization), { deleteOlderThanNDays: count, deleteRunDataAndLogs: true });
    await deleting(3);
    await look({ organization });
    await look({ workspace: id });
    await deleting(300);
    for (const [kind, one] of each) await ageDeletion(kind, one, 8);
    await look({ workspace: id });
    const { attributes } = (await api.get(`configuration-versions/${configuration}`)).body.data;
    expect([await statusOfState(old), attributes.status]).toEqual(Array(2).fill('backing_data_soft_deleted'));
    expect((await store.getRun(run.id))?.plan.content).toBe('soft_deleted');
  });

  it('leaves an archive that workspaces share, and the content of an environment', async () => {
    expect(store.isOwnArchive({ id: 'cv-1', archive: { key: 'configurations/cv-1.tar.gz' } } as never)).toBe(true);
    expect(store.isOwnArchive({ id: 'cv-1' } as never)).toBe(true);
    const { id } = await api.workspace();
    const [configuration] = [(await api.configuration(id)).id, await api.configuration(id)];
    await age('configurationVersion', configuration, 50);
    await store.update(store.keys.configurationVersion(configuration), { set: { archive: { key: 'commits/shared' } } });
    await send('POST', ofWorkspace(id), { deleteOlderThanNDays: 30 });
    await look({ workspace: id });
    await ageDeletion('configurationVersion', configuration, 8);
    await look({ workspace: id });
    const { attributes } = (await api.get(`configuration-versions/${configuration}`)).body.data;
    expect(attributes.status).toBe('backing_data_soft_deleted');
    await store.update(store.keys.workspace(id), { set: { managedBy: 'environment e' } });
    await look({ workspace: id });
    expect(await store.get(store.keys.workspaceRetention(id))).toBeUndefined();
  });

  it('looks at an organization once a day until its policy keeps everything, and ignores a missing timer', async () => {
    const organization = await newOrganization();
    const timer = () => store.get<{ dueAt: string }>(store.keys.organizationRetention(organization));
    const errors = vi.spyOn(console, 'error');
    await look({ organization });
    await look({ workspace: 'ws-none' });
    expect(errors).not.toHaveBeenCalled();
    await send('POST', ofOrganization(organization), { deleteOlderThanNDays: 3 });
    await look({ organization });
    expect(Date.parse((await timer())?.dueAt ?? '')).toBeGreaterThan(Date.now() + 80_000_000);
    await send('POST', ofOrganization(organization), {}, keeps);
    await look({ organization });
    expect(await timer()).toBeUndefined();
  });

  it('continues deleting although the oldest item can still be restored', async () => {
    const { id } = await api.workspace();
    const ids: string[] = [];
    for (let serial = 1; serial <= 120; serial++) {
      const stateVersionId = `sv-many${String(serial).padStart(12, '0')}`;
      ids.push(stateVersionId);
      const version = { id: stateVersionId, workspaceId: id, status: 'finalized', createdAt: days(50), serial };
      await store.put({ ...store.keys.stateVersion(stateVersionId), ...version });
      await store.put({ ...store.keys.workspaceStateVersion(id, serial, stateVersionId), stateVersionId });
    }
    await send('POST', ofWorkspace(id), { deleteOlderThanNDays: 30 });
    const looks = [await nextLook(id), await nextLook(id), await nextLook(id)];
    expect(looks.map((seconds) => seconds <= 60)).toEqual([true, true, false]);
    const statuses = await Promise.all(ids.map(async (one) => (await store.getStateVersion(one))?.status));
    expect(new Set(statuses)).toEqual(new Set(['backing_data_soft_deleted']));
  });

  it('deletes unused old configurations, and run data if the policy includes them', async () => {
    const help = await runHelpers(api);
    const workspace = (await help.ready()).id;
    const [oldest, young] = [await api.configuration(workspace), await api.configuration(workspace)];
    await api.configuration(workspace);
    const [run, newer] = [await help.create(workspace), await help.create(workspace)];
    await api.configuration(workspace);
    const listed = (await api.get(`workspaces/${workspace}/configuration-versions`)).body.data as { id: string }[];
    const old = listed.slice(1).filter(({ id }) => id !== young.id);
    for (const { id } of old) await age('configurationVersion', id, 50);
    await age('run', run.id, 50);
    const leaveQueue = async (id: string) =>
      store.remove(store.keys.queued(workspace, (await store.getRun(id))?.place ?? 0, id));
    await store.updateRun(newer.id, { set: { status: 'applied' } });
    await leaveQueue(newer.id);
    const latest = (change: object) => store.update(store.keys.workspace(workspace), change);
    await latest({ set: { latestRunId: run.id } });
    /** A changed policy starts over; otherwise content that was in use is checked again after a month. */
    const apply = async () => {
      await send('POST', ofWorkspace(workspace), { deleteOlderThanNDays: 30, deleteRunDataAndLogs: true });
      await look({ workspace });
    };
    await apply();
    const status = async (id: string) => (await api.get(`configuration-versions/${id}`)).body.data.attributes.status;
    const content = async ({ id }: { id: string }) => (await store.getRun(id))?.plan.content;
    expect([await status(oldest.id), await status(young.id)]).toEqual(['backing_data_soft_deleted', 'uploaded']);
    expect(await content(newer)).toBeUndefined();
    for (const { id } of old) await ageDeletion('configurationVersion', id, 8);
    await age('configurationVersion', young.id, 50);
    await age('run', newer.id, 50);
    await look({ workspace });
    expect(await status(young.id), 'old by now').toBe('backing_data_soft_deleted');
    expect(await status(oldest.id)).toBe('backing_data_permanently_deleted');
    const used = run.relationships['configuration-version'].data.id;
    expect(await status(used)).toBe('uploaded');
    expect([await content(run), await content(newer)]).toEqual([undefined, 'soft_deleted']);
    await leaveQueue(run.id);
    await latest({ remove: ['latestRunId'] });
    await apply();
    expect(await content(run), 'in progress').toBeUndefined();
    await store.updateRun(run.id, { set: { status: 'applied' } });
    await latest({ set: { latestRunId: run.id } });
    await apply();
    expect(await content(run), 'the latest').toBeUndefined();
    await latest({ remove: ['latestRunId'] });
    await apply();
    expect(await content(run)).toBe('soft_deleted');
    await ageDeletion('run', run.id, 8);
    await look({ workspace });
    expect(await content(run)).toBe('permanently_deleted');
  });

  it('follows the organization, unless the workspace keeps everything or has its own policy', async () => {
    const organization = await newOrganization();
    const newWorkspace = async () =>
      (await api.post(`organizations/${organization}/workspaces`, { name: uniqueName('w') })).body.data.id as string;
    const [following, keeping] = [await newWorkspace(), await newWorkspace()];
    const [old = ''] = await states(following, 2);
    const [kept = ''] = await states(keeping, 2);
    for (const id of [old, kept]) await age('stateVersion', id, 50);
    await send('POST', ofOrganization(organization), { deleteOlderThanNDays: 30 });
    await send('POST', ofWorkspace(keeping), {}, keeps);
    await look({ organization });
    for (const workspace of [following, keeping]) await look({ workspace });
    expect([await statusOfState(old), await statusOfState(kept)]).toEqual(['backing_data_soft_deleted', 'finalized']);
  });

  it('stops with the policy, and its timer ends', async () => {
    const { id } = await api.workspace();
    const [old = ''] = await states(id, 2);
    await age('stateVersion', old, 50);
    await send('POST', ofWorkspace(id), { deleteOlderThanNDays: 30 });
    await api.call('DELETE', ofWorkspace(id));
    await look({ workspace: id });
    expect([await statusOfState(old), await store.get(store.keys.workspaceRetention(id))]).toEqual([
      'finalized',
      undefined,
    ]);
  });

  it('keeps the timer of a policy that is set during its check', async () => {
    const { id } = await api.workspace();
    for (const deletion of [false, true]) {
      await send('POST', ofWorkspace(id), { deleteOlderThanNDays: 30 });
      if (deletion) await store.update(store.keys.workspace(id), { remove: ['dataRetention'] });
      let calls = 0;
      api.aws.gate = async () => {
        if (++calls !== 2) return;
        api.aws.gate = undefined;
        await store.update(store.keys.workspaceRetention(id), { set: { lookedAt: 'since then', dueAt: 'soon' } });
      };
      await look({ workspace: id });
      api.aws.gate = undefined;
      expect(await store.get(store.keys.workspaceRetention(id))).toMatchObject({
        lookedAt: 'since then',
        dueAt: 'soon',
      });
    }
  });

  it('needs no timer if the policy keeps everything', async () => {
    const { id } = await api.workspace();
    await send('POST', ofWorkspace(id), {}, keeps);
    expect(await store.get(store.keys.workspaceRetention(id))).toBeUndefined();
    await api.call('DELETE', ofWorkspace(id));
    expect(await store.get(store.keys.workspaceRetention(id))).toBeUndefined();
    await send('POST', ofWorkspace(id), { deleteOlderThanNDays: 30 });
    expect(await store.get(store.keys.workspaceRetention(id))).toMatchObject({ dueAt: expect.stringMatching(/Z$/) });
  });

  it('checks items that it kept again once a month', async () => {
    const { id } = await api.workspace();
    const [old = ''] = await states(id, 2);
    await age('stateVersion', old, 50);
    await send('POST', ofWorkspace(id), { deleteOlderThanNDays: 30 });
    await look({ workspace: id });
    await api.call('POST', `state-versions/${old}/actions/restore_backing_data`);
    /** The state's status, and whether a new month has begun. */
    const lookAfter = async (passed: number) => {
      await store.update(store.keys.workspaceRetention(id), { set: { since: days(passed) } });
      await look({ workspace: id });
      const timer = await store.get<{ since: string }>(store.keys.workspaceRetention(id));
      return [await statusOfState(old), Date.parse(timer?.since ?? '') > Date.parse(days(1))];
    };
    expect(await lookAfter(29), 'what was restored is spared').toEqual(['finalized', false]);
    expect(await lookAfter(31)).toEqual(['backing_data_soft_deleted', true]);
  });

  it('continues soon when items are left, and the next day otherwise', async () => {
    const { id } = await api.workspace();
    for (let serial = 1; serial <= 60; serial++) {
      const stateVersionId = `sv-gone${String(serial).padStart(12, '0')}`;
      await store.put({ ...store.keys.workspaceStateVersion(id, serial, stateVersionId), stateVersionId });
    }
    await send('POST', ofWorkspace(id), { deleteOlderThanNDays: 30 });
    expect(await nextLook(id)).toBeLessThanOrEqual(60);
    expect(await nextLook(id)).toBeGreaterThan(80_000);
  });
});
