import { describe, expect, it } from 'vitest';
import type { StateVersion } from '#resources/states/state-version.ts';
import type { Run } from '#run/run.ts';
import { detailOf, startApi } from '#test/support/api.ts';
import { runHelpers } from '#test/support/runs.ts';
import { resource, type StateFile, stateFile } from '#test/support/state.ts';

/** Links of state versions: to each other, to their runs and authors, and to their JSON form. */

const api = await startApi();
const help = await runHelpers(api);

const json = '{"format_version":"1.0","values":{}}';

const write = async (id: string, content: StateFile, more: object = {}, relationships?: object) => {
  const { text, ...attributes } = stateFile(content);
  const state = Buffer.from(text).toString('base64');
  const answer = await api.post(`workspaces/${id}/state-versions`, { ...attributes, state, ...more }, relationships);
  expect(answer.status).toBe(201);
  return answer.body.data;
};
const locked = async () => {
  const { id } = await api.workspace();
  await api.call('POST', `workspaces/${id}/actions/lock`);
  return id as string;
};
const read = async (id: string, query = '') => (await api.get(`state-versions/${id}${query}`)).body;
const downloaded = async (url: string) => {
  const { status, headers } = await api.get(new URL(url).pathname);
  expect(status).toBe(302);
  return (await fetch(headers.location as string)).text();
};

describe('the JSON state', () => {
  it('can be uploaded with the state', async () => {
    const { id } = await write(await locked(), {}, { 'json-state': Buffer.from(json).toString('base64') });
    const { attributes } = (await read(id)).data;
    expect(await downloaded(attributes['hosted-json-state-download-url'])).toBe(json);
  });

  it('can be uploaded later and is available at the next read', async () => {
    const workspaceId = await locked();
    const { attributes, text } = { attributes: stateFile(), text: stateFile().text };
    const document = (await api.post(`workspaces/${workspaceId}/state-versions`, { ...attributes, text: undefined }))
      .body;
    const urls = document.data.attributes;
    await fetch(urls['hosted-state-upload-url'], { method: 'PUT', body: text });
    const { id } = document.data;
    expect((await read(id)).data.attributes).toMatchObject({
      status: 'finalized',
      'resources-processed': true,
      'hosted-json-state-download-url': null,
    });
    const early = await api.get(`state-versions/${id}/json-download`);
    expect(detailOf(early)).toEqual([404, expect.stringContaining('has no JSON state')]);

    await fetch(urls['hosted-json-state-upload-url'], { method: 'PUT', body: json });
    const late = (await read(id)).data.attributes;
    expect(await downloaded(late['hosted-json-state-download-url'])).toBe(json);
    const name = (await api.get(`workspaces/${workspaceId}`)).body.data.attributes.name;
    const list = await api.get(`state-versions?filter[organization][name]=acme&filter[workspace][name]=${name}`);
    expect(list.body.data[0].attributes['hosted-json-state-download-url']).toBe(late['hosted-json-state-download-url']);
  });

  it('is no longer expected after its deadline', async () => {
    const { putObject } = await import('#platform/store/bucket.ts');
    const { update } = await import('#platform/store/table.ts');
    const { keys, objects } = await import('#platform/store/keys.ts');
    const workspaceId = await locked();
    const { id } = await write(workspaceId, {});
    await update<StateVersion>(keys.stateVersion(id), { set: { createdAt: '2026-01-01T00:00:00.000Z' } });
    await putObject(objects.upload(`${id}.json`), json);
    expect((await read(id)).data.attributes['hosted-json-state-download-url']).toBeNull();
  });

  it('is copied by a rollback', async () => {
    const workspaceId = await locked();
    const first = await write(workspaceId, { serial: 1 }, { 'json-state': Buffer.from(json).toString('base64') });
    await write(workspaceId, { serial: 2 });
    const relationships = { 'rollback-state-version': { data: { type: 'state-versions', id: first.id } } };
    const { body } = await api.patch(`workspaces/${workspaceId}/state-versions`, {}, relationships);
    expect(await downloaded(body.data.attributes['hosted-json-state-download-url'])).toBe(json);
  });
});

describe('a state version', () => {
  const around = async (id: string) => {
    const { relationships } = (await read(id)).data;
    return ['previous-state-version', 'next-state-version'].map((name) => relationships[name].data?.id);
  };

  it('links to its predecessor and successor, skipping rejected versions', async () => {
    const id = await locked();
    const one = await write(id, { serial: 1 });
    expect(await around(one.id)).toEqual([undefined, undefined]);
    const { text: _, ...announced } = stateFile({ serial: 2 });
    const refused = (await api.post(`workspaces/${id}/state-versions`, announced)).body.data;
    await fetch(refused.attributes['hosted-state-upload-url'], { method: 'PUT', body: 'no state' });
    expect((await read(refused.id)).data.attributes.status).toBe('discarded');
    const two = await write(id, { serial: 3 });
    expect(await around(one.id)).toEqual([undefined, two.id]);
    expect(await around(two.id)).toEqual([one.id, undefined]);
    const { text: __, ...pending } = stateFile({ serial: 4 });
    await api.post(`workspaces/${id}/state-versions`, pending);
    expect(await around(two.id), 'before the next one is uploaded').toEqual([one.id, undefined]);
    expect(await around(one.id)).toEqual([undefined, two.id]);
  });

  it('without content has outputs that are gone, or not yet there', async () => {
    const id = await locked();
    const one = await write(id, { serial: 1 });
    const two = await write(id, { serial: 2 });
    const act = (of: string, verb: string) => api.call('POST', `state-versions/${of}/actions/${verb}_backing_data`);
    expect((await act(one.id, 'soft_delete')).status).toBe(204);
    const gone = await api.get(`state-versions/${one.id}/outputs`);
    expect(detailOf(gone)).toEqual([404, `The content of state version ${one.id} was deleted.`]);
    expect((await api.get(`state-versions/${one.id}/download`)).status).toBe(404);
    const { getStateVersion } = await import('#resources/states/records.ts');
    expect((await getStateVersion(one.id))?.deletedAt).toMatch(/Z$/);
    expect((await act(one.id, 'restore')).status).toBe(204);
    expect((await getStateVersion(one.id))?.deletedAt).toBeUndefined();
    expect((await api.get(`state-versions/${one.id}/outputs`)).status).toBe(200);
    expect((await act(one.id, 'restore')).status, 'is not deleted').toBe(409);
    expect((await act(one.id, 'permanently_delete')).status, 'is not deleted').toBe(409);
    expect((await act(two.id, 'soft_delete')).status, 'the current one').toBe(409);
  });

  it('that is deleted for good has no content, and stays in the list', async () => {
    const workspaceId = await locked();
    const content = { resources: Array.from({ length: 500 }, (_, n) => resource('x', `r${n}`)) };
    const { text, ...announced } = stateFile(content);
    const { id, attributes } = (await api.post(`workspaces/${workspaceId}/state-versions`, announced)).body.data;
    await fetch(attributes['hosted-state-upload-url'], { method: 'PUT', body: text });
    await fetch(attributes['hosted-json-state-upload-url'], { method: 'PUT', body: json });
    expect((await read(id)).data.attributes).toMatchObject({ status: 'finalized', resources: { length: 500 } });
    await write(workspaceId, { serial: 2 });
    const act = async (verb: string) =>
      (await api.call('POST', `state-versions/${id}/actions/${verb}_backing_data`)).status;
    expect(await act('soft_delete')).toBe(204);
    expect(api.storage.objects().filter((key) => key.includes(id)).length).toBe(5);
    // It can be repeated, because its objects are emptied one by one.
    for (let repeat = 0; repeat < 2; repeat++) {
      expect(await act('permanently_delete')).toBe(204);
      expect(api.storage.objects().filter((key) => key.includes(id))).toEqual([]);
    }
    expect((await read(id)).data.attributes).toMatchObject({
      status: 'backing_data_permanently_deleted',
      resources: null,
    });
    for (const verb of ['restore', 'soft_delete']) expect([verb, await act(verb)]).toEqual([verb, 409]);
  });

  it('that becomes current discards saved plans that are based on the one before', async () => {
    const { keepSavedPlan } = await import('#resources/runs/saved-plans.ts');
    const { getRun } = await import('#resources/runs/records.ts');
    const { id: workspaceId } = await help.ready();
    const run = await help.create(workspaceId, { 'save-plan': true });
    await keepSavedPlan((await getRun(run.id)) as Run);
    await api.call('POST', `workspaces/${workspaceId}/actions/lock`);
    await write(workspaceId, { serial: 1 });
    expect((await getRun(run.id))?.decision).toMatchObject({ action: 'discard' });
  });

  it('includes its run, their authors and the configuration', async () => {
    const { id: workspaceId, version } = await help.ready();
    const run = await help.create(workspaceId);
    const { startNext } = await import('#lifecycle/queue/queue.ts');
    const { createStateVersion } = await import('#resources/states/records.ts');
    const { finalizeStateVersion } = await import('#resources/states/finalize.ts');
    const { putObject } = await import('#platform/store/bucket.ts');
    const { getWorkspace } = await import('#resources/workspaces/records.ts');
    await startNext(workspaceId);
    const workspace = await getWorkspace(workspaceId);
    if (!workspace) throw new Error('no workspace');
    const { text, ...announced } = stateFile({ outputs: { n: { value: 1, type: 'number' } } });
    const values = { workspace, runId: run.id, userId: api.userId, force: false, intermediate: false, ...announced };
    const outcome = await createStateVersion(values);
    if ('conflict' in outcome) throw new Error(outcome.conflict);
    const pending = (await read(outcome.stateVersion.id)).data.attributes;
    expect([pending.status, pending['hosted-state-upload-url']], 'only runners upload it').toEqual(['pending', null]);
    await putObject(outcome.stateVersion.uploadKey as string, text);
    await finalizeStateVersion(outcome.stateVersion);

    const query = '?include=outputs,run,created_by,run.created_by,run.configuration_version';
    const { data, included } = await read(outcome.stateVersion.id, query);
    expect(data.relationships).toMatchObject({
      run: { data: { type: 'runs', id: run.id } },
      'created-by': { data: { type: 'users', id: api.userId } },
    });
    const things = included.map(({ type, id }: { type: string; id: string }) => [type, id]);
    expect(things).toEqual([
      ['state-version-outputs', data.relationships.outputs.data[0].id],
      ['runs', run.id],
      ['users', api.userId],
      ['configuration-versions', version],
    ]);
    for (const [include, expected] of [
      ['run', ['runs']],
      ['created_by', ['users']],
      ['run.created_by', ['runs', 'users']],
      ['run.configuration_version', ['runs', 'configuration-versions']],
    ]) {
      const { included } = await read(outcome.stateVersion.id, `?include=${include}`);
      expect([include, included.map(({ type }: { type: string }) => type)]).toEqual([include, expected]);
    }
    const { name } = workspace;
    const list = `state-versions?filter[organization][name]=acme&filter[workspace][name]=${name}&include=run,created_by`;
    const types = (await api.get(list)).body.included.map(({ type }: { type: string }) => type);
    expect(types).toEqual(['runs', 'users']);
    expect((await api.get(`state-versions/${outcome.stateVersion.id}?include=workspace`)).status).toBe(400);
  });

  it('accepts a run of the same workspace', async () => {
    const { id: workspaceId } = await help.ready();
    const run = await help.create(workspaceId, { 'plan-only': true });
    await api.call('POST', `workspaces/${workspaceId}/actions/lock`);
    const of = (id: string) => ({ run: { data: { type: 'runs', id } } });
    const own = await write(workspaceId, { serial: 1 }, {}, of(run.id));
    expect(own.relationships.run.data).toEqual({ type: 'runs', id: run.id });
    const foreign = await write(await locked(), { serial: 1 }, {}, of(run.id));
    expect(foreign.relationships.run.data).toBeNull();
  });
});
