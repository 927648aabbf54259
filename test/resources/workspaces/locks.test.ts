import { describe, expect, it } from 'vitest';
import { keys } from '#platform/store/keys.ts';
import type { Run } from '#run/run.ts';
import { startApi } from '#test/support/api.ts';
import { runHelpers } from '#test/support/runs.ts';
import { stateFile } from '#test/support/state.ts';

const api = await startApi();
const table = await import('#platform/store/table.ts');

describe('locks', () => {
  const act = (id: string, action: string, body?: unknown) =>
    api.call('POST', `workspaces/${id}/actions/${action}`, { body });
  const fresh = async () => (await api.workspace()).id as string;

  it('accept a reason in the body', async () => {
    const [one, two] = [await fresh(), await fresh()];
    const body = { data: { type: '', attributes: { reason: 'Locked by Terraform' } } };
    const locked = await act(one, 'lock', body);
    expect(locked.status).toBe(200);
    expect(locked.body.data).toMatchObject({
      attributes: { locked: true, 'locked-reason': 'Locked by Terraform' },
      relationships: { 'locked-by': { data: { type: 'users', id: api.userId } } },
    });
    expect((await act(two, 'lock', { reason: 'plain' })).body.data.attributes['locked-reason']).toBe('plain');
  });

  it('can be acquired once and released once', async () => {
    const id = await fresh();
    expect((await act(id, 'unlock')).status).toBe(409);
    await act(id, 'lock');
    expect((await act(id, 'lock')).status).toBe(409);
    expect((await act(id, 'unlock')).body.data.attributes.locked).toBe(false);
    const again = await act(id, 'unlock');
    expect(again.status).toBe(409);
    expect(again.body.errors[0].detail).toMatch(/already unlocked/);
    expect((await act(id, 'force-unlock')).status).toBe(409);
  });

  it('of other users name the holder and need force', async () => {
    const id = await fresh();
    await table.update(keys.workspace(id), { set: { lock: { kind: 'user', userId: 'user-x', reason: '', at: '' } } });
    const refused = await act(id, 'unlock');
    expect(refused.status).toBe(409);
    expect(refused.body.errors[0].detail).toContain('is locked by User user-x');
    expect((await act(id, 'force-unlock')).body.data.attributes.locked).toBe(false);
  });

  it('of runs cannot be released and name the run', async () => {
    const id = await fresh();
    await table.update(keys.workspace(id), { set: { lock: { kind: 'run', runId: 'run-x', at: '' } } });
    for (const action of ['unlock', 'force-unlock']) {
      const refused = await act(id, action);
      expect(refused.status).toBe(409);
      expect(refused.body.errors[0].detail).toContain('is locked by Run run-x');
    }
  });

  it('of ended runs can be acquired before their release', async () => {
    const help = await runHelpers(api);
    const { leaveQueue, startNext } = await import('#lifecycle/queue/queue.ts');
    const { id } = await help.ready();
    const [ending, next] = [await help.create(id), await help.create(id)];
    await startNext(id);
    expect((await act(id, 'lock')).status).toBe(409);
    await help.bring(ending.id, { status: 'applied' });
    expect((await act(id, 'lock')).body.data).toMatchObject({
      attributes: { locked: true },
      relationships: { 'locked-by': { data: { id: api.userId } } },
    });
    await leaveQueue((await help.store.getRun(ending.id)) as Run);
    expect((await help.store.getRun(next.id))?.current).toBeFalsy();
    expect((await act(id, 'unlock')).status).toBe(200);
    expect((await help.store.getRun(next.id))?.current).toBe(true);
  });

  it('are kept while a state upload is pending', async () => {
    const id = await fresh();
    await act(id, 'lock');
    const { text, ...attributes } = stateFile();
    const response = await api.post(`workspaces/${id}/state-versions`, attributes);
    const refused = await act(id, 'unlock');
    expect(refused.status).toBe(422);
    expect(JSON.stringify(refused.body)).toContain('latest state version is still pending');
    await fetch(response.body.data.attributes['hosted-state-upload-url'], { method: 'PUT', body: text });
    expect((await act(id, 'unlock')).status).toBe(200);
    expect((await api.get(`workspaces/${id}/current-state-version`)).body.data.id).toBe(response.body.data.id);
  });

  it('show the run that is waiting', async () => {
    const id = await fresh();
    await api.configuration(id);
    await act(id, 'lock');
    const run = await api.post('runs', {}, { workspace: { data: { type: 'workspaces', id } } });
    const { body } = await api.get(`workspaces/${id}`);
    expect(body.data.relationships['current-run'].data.id).toBe(run.body.data.id);
  });
});
