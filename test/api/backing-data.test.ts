import { describe, expect, it } from 'vitest';
import { logPath } from '#resources/runs/log-links.ts';
import type { Run } from '#run/run.ts';
import { eventOf, startApi } from '#test/support/api.ts';
import { on, runHelpers } from '#test/support/runs.ts';
import { stateFile } from '#test/support/state.ts';

/** Content that is soft-deleted, restored, and deleted permanently. */

const api = await startApi();
const { getObject, putObject } = await import('#platform/store/bucket.ts');
const { sha256Of } = await import('#platform/store/integrity.ts');
const help = await runHelpers(api);

const act = (path: string, action: string, sent = {}) => api.call('POST', `${path}/actions/${action}`, sent);

describe('content of a state version', () => {
  const history = async () => {
    const { id } = await api.workspace();
    await act(`workspaces/${id}`, 'lock');
    const createdIds: string[] = [];
    const contents: string[] = [];
    for (const serial of [1, 2]) {
      const { text, ...attributes } = stateFile({ serial, outputs: { a: { value: serial, type: 'number' } } });
      contents.push(`states/${id}/{id}/${sha256Of(text)}.tfstate`);
      const state = Buffer.from(text).toString('base64');
      createdIds.push((await api.post(`workspaces/${id}/state-versions`, { ...attributes, state })).body.data.id);
    }
    const [old = '', current = ''] = createdIds;
    const oldKey = contents[0]?.replace('{id}', old) ?? '';
    return { id: id as string, old: `state-versions/${old}`, current: `state-versions/${current}`, oldId: old, oldKey };
  };

  it('is 404 after deletion and readable after a restore', async () => {
    const { id, old, oldId } = await history();
    expect((await act(old, 'soft_delete_backing_data')).status).toBe(204);
    const { getStateVersion } = await import('#resources/states/records.ts');
    expect((await getStateVersion(oldId))?.deletedAt, 'the grace period counts from it').toMatch(/Z$/);
    expect((await api.get(old)).body.data).toMatchObject({
      attributes: {
        status: 'backing_data_soft_deleted',
        'hosted-state-download-url': null,
        permissions: { 'can-restore-backing-data': true },
      },
      relationships: { outputs: { data: [] } },
    });
    expect((await api.get(`${old}/download`)).status).toBe(404);
    const outputs = await api.get(`${old}/outputs`);
    expect([outputs.status, outputs.body.errors[0].detail]).toEqual([404, expect.stringContaining('was deleted')]);
    const rollback = { 'rollback-state-version': { data: { type: 'state-versions', id: oldId } } };
    expect((await api.patch(`workspaces/${id}/state-versions`, {}, rollback)).status).toBe(422);
    expect((await act(old, 'soft_delete_backing_data')).status).toBe(409);
    expect((await act(old, 'restore_backing_data')).status).toBe(204);
    expect((await getStateVersion(oldId))?.deletedAt, 'a restored version is not deleted').toBeUndefined();
    expect((await api.get(`${old}/download`)).status).toBe(302);
    expect((await api.patch(`workspaces/${id}/state-versions`, {}, rollback)).status).toBe(201);
  });

  it('is erased only after its deletion, and cannot be restored then', async () => {
    const { old, oldKey } = await history();
    expect((await getObject(oldKey))?.length).toBeGreaterThan(0);
    expect((await act(old, 'permanently_delete_backing_data')).status).toBe(409);
    await act(old, 'soft_delete_backing_data');
    expect((await act(old, 'permanently_delete_backing_data')).status).toBe(204);
    expect((await act(old, 'permanently_delete_backing_data')).status).toBe(204);
    expect((await act(old, 'restore_backing_data')).status).toBe(409);
    expect((await getObject(oldKey))?.length).toBe(0);
    expect((await api.get(old)).body.data.attributes).toMatchObject({
      status: 'backing_data_permanently_deleted',
      resources: null,
    });
  });

  it('cannot be deleted while the version is current', async () => {
    const { current, old } = await history();
    for (const action of ['soft_delete_backing_data', 'permanently_delete_backing_data']) {
      expect((await act(current, action)).body.errors[0].detail).toMatch(/is the current one/);
    }
    const writer = await help.user('write');
    expect((await act(old, 'soft_delete_backing_data', { token: writer.token })).status).toBe(403);
  });
});

describe('content of a configuration version', () => {
  it('can be deleted, restored and purged unless new runs would use it', async () => {
    const { id, version: old } = await help.ready();
    const current = (await api.configuration(id)).id;
    const path = `configuration-versions/${old}`;
    for (const action of ['soft_delete_backing_data', 'archive']) {
      const stored = await act(`configuration-versions/${current}`, action);
      expect([stored.status, stored.body.errors[0].detail]).toEqual([
        409,
        expect.stringContaining('because it is current'),
      ]);
    }
    expect(await act(path, 'soft_delete_backing_data')).toMatchObject({ status: 200, body: undefined });
    expect((await api.get(path)).body.data.attributes).toMatchObject({
      status: 'backing_data_soft_deleted',
      'status-timestamps': { 'soft-delete-backing-data-at': expect.stringMatching(/Z$/) },
    });
    expect((await api.get(`${path}/download`)).status).toBe(404);
    expect((await api.post('runs', {}, on(id, old))).status).toBe(422);
    expect((await act(path, 'restore_backing_data')).status).toBe(200);
    expect((await api.get(path)).body.data.attributes.status).toBe('uploaded');
    expect((await api.get(`${path}/download`)).status).toBe(302);
    expect((await act(path, 'permanently_delete_backing_data')).status).toBe(409);
    await act(path, 'soft_delete_backing_data');
    expect((await act(path, 'permanently_delete_backing_data')).status).toBe(200);
    const { getConfigurationVersion } = await import('#resources/configurations/records.ts');
    const { archive, uploadKey } = (await getConfigurationVersion(old)) ?? {};
    for (const key of [archive?.key, uploadKey]) expect((await getObject(key as string))?.length).toBe(0);
    expect((await act(path, 'archive')).status).toBe(409);
  });
});

describe.each(['plan', 'apply'] as const)('content of the %s of a run', (phase) => {
  const artifact = phase === 'plan' ? 'plan-json' : 'log';
  const base = (id: string) => `${phase === 'plan' ? 'plans' : 'applies'}/${phase}-${id.slice('run-'.length)}`;
  const errored = ({ workspaceId, id }: Run) => `states/${workspaceId}/${id}.errored.tfstate`;
  const log = async (run: Run) => {
    const { handler } = await import('#resources/runs/logs-handler.ts');
    const { body } = await handler(eventOf('GET', logPath(run, phase)) as never);
    return Buffer.from(body ?? '', 'base64').toString('utf8');
  };
  const over = async (status = 'finished'): Promise<Run> => {
    const { id } = await help.create((await help.ready()).id);
    for (const name of new Set(['log', artifact])) await putObject(`runs/${id}/${phase}/${name}`, '\u0002secret\u0003');
    const report = { outcome: 'finished', artifacts: { log: 'sha', [artifact]: 'sha' } };
    await help.bring(id, { [`${phase}.report`]: report, [`${phase}.status`]: status });
    return (await help.bring(id, { status: 'applied' })) as Run;
  };

  it('is inaccessible when deleted, and readable when restored', async () => {
    const run = await over();
    const path = base(run.id);
    expect(await log(run)).toContain('secret');
    expect((await act(path, 'restore-backing-data')).status).toBe(409);
    expect((await act(path, 'soft-delete-backing-data')).status).toBe(204);
    expect(await log(run)).toBe('\u0002This log was deleted.\n\u0003');
    if (phase === 'plan') {
      for (const end of ['json-output', 'json-output-redacted', 'json-schema']) {
        expect((await api.get(`${path}/${end}`)).status).toBe(404);
      }
    }
    expect((await act(path, 'soft-delete-backing-data')).status).toBe(409);
    expect((await api.get(path)).body.data.attributes.status).toBe('finished');
    expect((await act(path, 'restore-backing-data')).status).toBe(204);
    expect(await log(run)).toContain('secret');
  });

  it('is erased only after its deletion, and cannot be restored then', async () => {
    const run = await over('errored');
    const path = base(run.id);
    await putObject(errored(run), 'state');
    expect((await act(path, 'permanently-delete-backing-data')).status).toBe(409);
    await act(path, 'soft-delete-backing-data');
    for (const _ of [1, 2]) expect((await act(path, 'permanently-delete-backing-data')).status).toBe(204);
    const refused = await act(path, 'restore-backing-data');
    expect([refused.status, refused.body.errors[0].detail]).toEqual([409, expect.stringContaining('deleted for good')]);
    for (const name of ['log', artifact]) expect((await getObject(`runs/${run.id}/${phase}/${name}`))?.length).toBe(0);
    expect((await getObject(errored(run)))?.length).toBe(phase === 'apply' ? 0 : 5);
  });

  it('cannot be deleted before the run has ended', async () => {
    const { id } = await help.create((await help.ready()).id);
    const { status, body } = await act(base(id), 'soft-delete-backing-data');
    expect([status, body.errors[0].detail]).toEqual([409, expect.stringContaining('is pending')]);
  });
});
