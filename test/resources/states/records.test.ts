import { describe, expect, it } from 'vitest';
import { keys, objects } from '#platform/store/keys.ts';
import type { NewStateVersion } from '#resources/states/records.ts';
import type { StateVersion } from '#resources/states/state-version.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import { maxStateBytes } from '#run/limits.ts';
import { uniqueName } from '#test/support/api.ts';
import { startAws } from '#test/support/aws.ts';
import { resource, type StateFile, stateFile } from '#test/support/state.ts';
import { startStorage } from '#test/support/storage.ts';

const aws = await startAws();
await startStorage();
const locks = await import('#lifecycle/queue/locks.ts');
const { putObject } = await import('#platform/store/bucket.ts');
const { put, queryAll, remove, update } = await import('#platform/store/table.ts');
const finalize = await import('#resources/states/finalize.ts');
const { findStateVersions, listStateVersions } = await import('#resources/states/history.ts');
const records = await import('#resources/states/records.ts');
const workspaces = await import('#resources/workspaces/records.ts');
const store = { ...records, ...finalize };

const read = async (id: string) => (await workspaces.getWorkspace(id)) as Workspace;

/** A workspace locked by user-1. */
const locked = async (): Promise<string> => {
  const workspace = (await workspaces.createWorkspace({
    ...workspaces.defaultSettings,
    organization: 'acme',
    name: uniqueName('ws'),
    projectId: 'prj-1',
    tags: [],
  })) as Workspace;
  await locks.lockWorkspace(workspace.id, 'user-1', '');
  return workspace.id;
};

const announce = async (id: string, file: ReturnType<typeof stateFile>, change: Partial<NewStateVersion> = {}) => {
  const { serial, lineage, md5 } = file;
  const workspace = await read(id);
  const common = { workspace, userId: 'user-1', force: false, intermediate: false };
  return store.createStateVersion({ ...common, serial, lineage, md5, ...change });
};

const upload = async (version: StateVersion, text: string) => {
  await putObject(objects.upload(`${version.id}.tfstate`), text);
  return store.finalizeStateVersion(version);
};

/** Announces, uploads and finalizes a state. @returns the reason if it is rejected */
const push = async (id: string, content: StateFile = {}, change: Partial<NewStateVersion> = {}) => {
  const file = stateFile(content);
  const outcome = await announce(id, file, change);
  return 'conflict' in outcome ? outcome.conflict : upload(outcome.stateVersion, file.text);
};

/** Expects no conflict. */
const newVersion = async (...args: Parameters<typeof announce>): Promise<StateVersion> => {
  const outcome = await announce(...args);
  if ('conflict' in outcome) throw new Error(outcome.conflict);
  return outcome.stateVersion;
};

const pushed = async (id: string, content?: StateFile): Promise<StateVersion> => {
  const version = await push(id, content);
  if (typeof version === 'string') throw new Error(version);
  return version;
};

describe('a new state version', () => {
  it('becomes current after its content was uploaded and checked', async () => {
    const id = await locked();
    const file = stateFile({ resources: [resource('null_resource', 'a', 2)] });
    const version = await newVersion(id, file);
    const { state: url } = await store.uploadUrls(version);
    expect((await store.finalizeStateVersion(version)).status).toBe('pending');
    expect((await read(id)).state).toBeUndefined();
    expect((await fetch(url, { method: 'PUT', body: file.text })).status).toBe(200);
    const final = await store.finalizeStateVersion(version);
    expect(final).toMatchObject({ status: 'finalized', size: file.text.length, terraformVersion: '1.11.4' });
    expect((await read(id)).state).toMatchObject({ id: final.id, serial: 1, md5: file.md5, resources: 2 });
  });

  it('needs the next serial of the same lineage', async () => {
    const id = await locked();
    await push(id, { serial: 4 });
    expect(await push(id, { serial: 5 })).toMatchObject({ status: 'finalized' });
    expect((await read(id)).state?.serial).toBe(5);
  });

  it('may follow a state that was not yet there when it was announced', async () => {
    const id = await locked();
    await push(id, { serial: 1 });
    const file = stateFile({ serial: 3 });
    const version = await newVersion(id, file);
    await push(id, { serial: 2 });
    expect(await upload(version, file.text)).toMatchObject({ status: 'finalized' });
    expect((await read(id)).state?.serial).toBe(3);
  });

  it.each([
    ['another lineage', { serial: 9, lineage: 'other' }, /lineage other.*stepform state push --force/],
    ['a lower serial', { serial: 3 }, /newer serial 4.*stepform state push --force/],
    [
      'the same serial with other content',
      { serial: 4, outputs: { a: { value: 1, type: 'number' } } },
      /another state.*stepform state push --force/,
    ],
  ])('is rejected with %s, unless forced', async (_, content, reason) => {
    const id = await locked();
    await push(id, { serial: 4 });
    expect(await push(id, content)).toMatch(reason);
    expect((await read(id)).state?.serial).toBe(4);
    expect(await push(id, content, { force: true })).toMatchObject({ status: 'finalized' });
    expect((await read(id)).state).toMatchObject({ serial: content.serial });
  });

  it('accepts the same state again without storing it twice', async () => {
    const id = await locked();
    const file = stateFile();
    const [one, two] = [await announce(id, file), await announce(id, file)];
    if ('conflict' in one || 'conflict' in two) throw new Error('conflict');
    expect(two.stateVersion.id).toBe(one.stateVersion.id);
    expect(two.stored).toBe(false);
    await upload(one.stateVersion, file.text);
    const items = aws.items();
    const three = await announce(id, file);
    expect(aws.items()).toEqual(items);
    expect(three).toMatchObject({ stateVersion: { id: one.stateVersion.id, status: 'finalized' }, stored: true });
    expect((await listStateVersions(await read(id), { page: 1, size: 10 })).total).toBe(1);
  });

  it('of another user is another one, even with the same announcement', async () => {
    const id = await locked();
    const first = await announce(id, stateFile());
    await locks.unlockWorkspace(id, 'user-1');
    await locks.lockWorkspace(id, 'user-2', '');
    const second = await announce(id, stateFile(), { userId: 'user-2' });
    if ('conflict' in first || 'conflict' in second) throw new Error('conflict');
    expect(second.stateVersion.id).not.toBe(first.stateVersion.id);
  });

  it('becomes current once under concurrent repeats', async () => {
    const id = await locked();
    const file = stateFile();
    const version = await newVersion(id, file);
    const same = await newVersion(id, file);
    await putObject(objects.upload(`${version.id}.tfstate`), file.text);
    const all = await Promise.all([1, 2, 3].map(() => store.finalizeStateVersion(version)));
    await locks.unlockWorkspace(id, 'user-1');
    all.push(await upload(same, file.text));
    expect(all.map(({ status }) => status)).toEqual(Array(4).fill('finalized'));
  });

  it('is completed by the next request after a crash at any call', async () => {
    for (let call = 1; call <= 2; call++) {
      for (const when of ['before', 'after'] as const) {
        const id = await locked();
        const file = stateFile();
        const version = await newVersion(id, file);
        await putObject(objects.upload(`${version.id}.tfstate`), file.text);
        aws.failCall(call, when);
        await expect(store.finalizeStateVersion(version)).rejects.toThrow();
        const again = (await store.getStateVersion(version.id)) as StateVersion;
        expect((await store.finalizeStateVersion(again)).status).toBe('finalized');
        expect((await read(id)).state?.id).toBe(version.id);
      }
    }
  });

  it('wins against at most one concurrent successor', async () => {
    const id = await locked();
    await push(id, { serial: 1 });
    const files = [2, 2].map((serial, i) => stateFile({ serial, outputs: { n: { value: i, type: 'number' } } }));
    const outcomes = await Promise.all(files.map((file) => announce(id, file)));
    const results = await Promise.all(
      outcomes.map((one, i) => ('conflict' in one ? undefined : upload(one.stateVersion, files[i]?.text ?? ''))),
    );
    expect(results.map((version) => version?.status).sort()).toEqual(['discarded', 'finalized']);
    const winner = results.find((version) => version?.status === 'finalized');
    expect((await read(id)).state?.id).toBe(winner?.id);
    const refused = results.find((version) => version?.status === 'discarded');
    expect(refused?.refusal).toMatch(/another state.*stepform state push --force/);
  });

  it('does not overwrite a later version when a forced request is repeated', async () => {
    const id = await locked();
    await push(id, { serial: 4 });
    const file = stateFile({ serial: 2 });
    const forced = await newVersion(id, file, { force: true });
    await push(id, { serial: 5 });
    expect(await upload(forced, file.text)).toMatchObject({ status: 'discarded' });
    expect((await read(id)).state?.serial).toBe(5);
  });
});

describe('the workspace lock', () => {
  it('must be held by the writer', async () => {
    const id = await locked();
    expect(await push(id, {}, { userId: 'user-2' })).toMatch(/must be locked/);
    expect(await push(id, {}, { userId: undefined, runId: 'run-1' })).toMatch(/must be locked/);
    await locks.unlockWorkspace(id, 'user-1');
    expect(await push(id)).toMatch(/must be locked/);
  });

  it('must still be held when the content is uploaded', async () => {
    const id = await locked();
    const file = stateFile();
    const version = await newVersion(id, file);
    await locks.unlockWorkspace(id, 'user-1');
    expect(await upload(version, file.text)).toMatchObject({
      status: 'discarded',
      refusal: expect.stringMatching(/unlocked/),
    });
    expect((await read(id)).state).toBeUndefined();
  });

  it('is gone with its workspace, whose last upload is discarded', async () => {
    const id = await locked();
    const file = stateFile();
    const version = await newVersion(id, file);
    await remove(keys.workspace(id));
    expect(await upload(version, file.text)).toMatchObject({
      status: 'discarded',
      refusal: 'The workspace was deleted.',
    });
  });

  it('of a run lets that run write, including snapshots', async () => {
    const id = await locked();
    const lock = { kind: 'run', runId: 'run-1', at: '2026-01-01T00:00:00.000Z' };
    await update(keys.workspace(id), { set: { lock } });
    const writer = { userId: undefined, runId: 'run-1' };
    expect(await push(id, { serial: 1 }, { ...writer, intermediate: true })).toMatchObject({ intermediate: true });
    expect(await push(id, { serial: 2 }, writer)).toMatchObject({ status: 'finalized', runId: 'run-1' });
    expect(await push(id, { serial: 3 })).toMatch(/must be locked/);
    expect((await read(id)).state?.serial).toBe(2);
  });
});

describe('state content', () => {
  it.each([
    ['is not what was announced', stateFile({ serial: 7 }).text, /MD5/],
    ['is cut off', stateFile().text.slice(0, -5), /MD5/],
  ])('is discarded when it %s', async (_, text, reason) => {
    const id = await locked();
    const version = await newVersion(id, stateFile());
    expect(await upload(version, text)).toMatchObject({
      status: 'discarded',
      refusal: expect.stringMatching(reason),
    });
    expect((await read(id)).state).toBeUndefined();
  });

  it.each([
    ['serial', { serial: 0 }],
    ['lineage', { lineage: 'other' }],
  ])('has the announced %s, regardless of its content', async (_, announced) => {
    const id = await locked();
    const file = stateFile();
    const version = await newVersion(id, { ...file, ...announced });
    expect(await upload(version, file.text)).toMatchObject({ status: 'finalized', ...announced });
    expect((await read(id)).state).toMatchObject(announced);
  });

  it('is checked by its SHA-256 alone if that is known', async () => {
    const { readState } = await import('#resources/states/integrity.ts');
    const version = await pushed(await locked());
    const content = Buffer.from(stateFile().text);
    expect(await readState({ ...version, md5: 'of other content' })).toEqual(content);
    await putObject(objects.state(version.workspaceId, version.id, version.sha256), 'other content');
    await expect(readState(version)).rejects.toThrow(`State version ${version.id}`);
  });

  it('is rejected before its upload when it is announced as too large', async () => {
    const size = maxStateBytes + 1;
    expect(await announce(await locked(), stateFile(), { size })).toEqual({ conflict: records.tooLarge(size) });
  });

  it('is discarded when it is larger than announced states may be', async () => {
    const version = await newVersion(await locked(), stateFile());
    const bytes = maxStateBytes + 1;
    await putObject(objects.upload(`${version.id}.tfstate`), Buffer.alloc(bytes));
    expect(await store.finalizeStateVersion(version)).toMatchObject({
      status: 'discarded',
      refusal: records.tooLarge(bytes),
    });
  });

  it('is discarded when its format is unknown', async () => {
    expect(await push(await locked(), { version: 3 })).toMatchObject({ refusal: expect.stringMatching(/version 3/) });
  });

  it('is summarized: outputs with types, resources, modules, providers', async () => {
    const id = await locked();
    const version = await push(id, {
      outputs: {
        url: { value: 'http://x', type: 'string' },
        password: { value: 'hunter2', type: 'string', sensitive: true },
        ports: { value: [80], type: ['tuple', ['number']] },
      },
      resources: [
        resource('null_resource', 'a', 3),
        resource('null_resource', 'b', 1, { module: 'module.net["x"].module.sub' }),
        resource('http', 'c', 1, { mode: 'data' }),
      ],
    });
    if (typeof version === 'string') throw new Error(version);
    expect(version.outputCount).toBe(3);
    const inline = JSON.parse(version.summary ?? '{}');
    expect(inline.resources).toMatchObject([
      { type: 'null_resource', name: 'a', count: 3, module: 'root' },
      { module: 'root.net.sub' },
      { type: 'data.http' },
    ]);
    expect(inline.modules.root).toEqual({ 'null-resource': 3, 'data.http': 1 });
    expect((await read(id)).state?.resources).toBe(4);
    const summary = await store.readSummary(version);
    expect(summary?.outputs).toMatchObject([
      { name: 'url', type: 'string', sensitive: false },
      { name: 'password', sensitive: true, value: 'hunter2' },
      { name: 'ports', type: 'array', detailedType: ['tuple', ['number']], value: [80] },
    ]);
  });

  it('may use names like constructor and __proto__', async () => {
    const outputs = JSON.parse('{"__proto__":{"value":1,"type":"number"},"constructor":{"value":2,"type":"number"}}');
    const version = await pushed(await locked(), { outputs, resources: [resource('constructor', 'toString', 2)] });
    expect((await store.readSummary(version))?.outputs.map(({ name }) => name)).toEqual(['__proto__', 'constructor']);
    expect(JSON.parse(version.summary ?? '{}').modules.root).toEqual({ constructor: 2 });
  });

  it('is never stored in the table', async () => {
    const id = await locked();
    const version = await pushed(id, { outputs: { password: { value: 'hunter2', type: 'string', sensitive: true } } });
    const items = [...(await queryAll({ pk: `WS#${id}` })), ...(await queryAll({ pk: `SV#${version.id}` }))];
    expect(JSON.stringify(items)).not.toContain('hunter2');
  });

  it('with a large summary is stored outside the record', async () => {
    const id = await locked();
    const version = await pushed(id, { resources: Array.from({ length: 500 }, (_, i) => resource('x', `r${i}`)) });
    expect(version.summary).toBeUndefined();
    expect((await store.readSummary(version))?.resources).toHaveLength(500);
    await putObject(objects.outputs(id, version.id, version.outputsSha256), '{}');
    await expect(store.readSummary(version)).rejects.toThrow(`The summary of state version ${version.id}`);
  });
});

it('a rollback does not replace a state that was written meanwhile, and finds its own again', async () => {
  const { addState, duplicateState } = await import('#resources/states/rollback.ts');
  const id = await locked();
  await push(id, { serial: 1 });
  const before = await read(id);
  await push(id, { serial: 2 });
  const { text, serial, lineage } = stateFile({ serial: 3 });
  const add = async (workspace: Workspace) =>
    addState(Buffer.from(text), { workspace, userId: 'user-1', serial, lineage });
  expect(await add(before)).toEqual({ conflict: expect.stringContaining('its state changed') });
  expect((await read(id)).state?.serial).toBe(2);
  expect(await add(await read(id))).toMatchObject({ stateVersion: { serial: 3, status: 'finalized' }, existed: false });
  expect(await add(await read(id))).toMatchObject({ stateVersion: { serial: 3 }, existed: true });
  const gone = { ...(await store.getStateVersion((await read(id)).state?.id ?? '')), id: 'sv-gone' } as StateVersion;
  const conflict = 'The content of state version sv-gone has expired or was deleted.';
  expect(await duplicateState(await read(id), gone, 'user-1')).toEqual({ conflict });
});

it('a resource keeps the versions that changed it', async () => {
  const id = await locked();
  const versions = [];
  for (const serial of [1, 2]) {
    const attributes = { instances: [{ attributes: { serial } }] };
    versions.push(
      await push(id, { serial, resources: [resource('x', 'changed', 1, attributes), resource('x', 'same')] }),
    );
  }
  const [first, last] = versions as [StateVersion, StateVersion];
  const { instances = [] } = (await store.readSummary(last)) ?? {};
  expect(instances.map(({ changes }) => changes?.map(({ version }) => version))).toEqual([
    [last.id, first.id],
    [first.id],
  ]);
});

it('content that was accepted meanwhile is not replaced', async () => {
  const id = await locked();
  const file = stateFile();
  const version = await newVersion(id, file);
  const accepted = {
    id: version.id,
    serial: 1,
    lineage: 'lineage-1',
    md5: file.md5,
    sha256: 'f'.repeat(64),
  };
  await update(keys.workspace(id), { set: { state: accepted } });
  expect((await upload(version, file.text)).status).toBe('pending');
  expect((await read(id)).state).toEqual(accepted);
});

it('a list by status is searched until its page is full', async () => {
  const id = await locked();
  for (let serial = 1; serial <= 110; serial++) {
    const stateVersionId = `sv-${serial}`;
    const version = { id: stateVersionId, serial, status: serial <= 45 ? 'finalized' : 'discarded' };
    await put({ ...keys.stateVersion(stateVersionId), ...version });
    await put({ ...keys.workspaceStateVersion(id, serial, stateVersionId), stateVersionId });
  }
  const find = async (status: string, page: number, size = 2) => {
    const before = aws.itemsRead;
    const { items, total } = await findStateVersions(id, status, { page, size });
    return [items.map(({ serial }) => serial), total, aws.itemsRead - before];
  };
  expect(await find('discarded', 1)).toEqual([[110, 109], 65, 201]);
  expect(await find('finalized', 1)).toEqual([[45, 44], 35, 201]);
  expect(await find('finalized', 18)).toEqual([[11, 10], 45, 222]);
  expect((await find('finalized', 1, 35))[1], 'and one more').toBe(45);
});

describe('completing an upload for a run', () => {
  it('reports why the state was rejected', async () => {
    const id = await locked();
    const version = await newVersion(id, stateFile());
    await expect(store.completeStateVersion(version.id)).rejects.toThrow(/not uploaded/);
    await putObject(objects.upload(`${version.id}.tfstate`), 'nonsense');
    await expect(store.completeStateVersion(version.id)).rejects.toThrow(/MD5/);
    await expect(store.completeStateVersion('sv-unknown')).rejects.toThrow(/not found in this run/);
  });

  it('is limited to the run that created it', async () => {
    const id = await locked();
    const version = await pushed(id);
    await expect(store.completeStateVersion(version.id, { runId: 'run-1' })).rejects.toThrow(/not found in this run/);
    expect((await store.completeStateVersion(version.id)).status).toBe('finalized');
  });
});

it('a list has the highest serial first, by status and in pages', async () => {
  const id = await locked();
  for (const serial of [1, 2, 3]) await push(id, { serial });
  await announce(id, stateFile({ serial: 4 }));
  const serials = async ({ status, ...paging }: { page: number; size: number; status?: string }) => {
    const before = aws.itemsRead;
    const list = await (status
      ? findStateVersions(id, status, paging)
      : listStateVersions({ id, stateVersionCount: 4 }, paging));
    return { serials: list.items.map(({ serial }) => serial), total: list.total, read: aws.itemsRead - before };
  };
  expect((await read(id)).stateVersionCount).toBe(4);
  expect(await serials({ page: 1, size: 3 })).toEqual({ serials: [4, 3, 2], total: 4, read: 6 });
  expect(await serials({ page: 2, size: 3 })).toEqual({ serials: [1], total: 4, read: 5 });
  expect(await serials({ page: 3, size: 3 })).toEqual({ serials: [], total: 4, read: 0 });
  expect(await serials({ page: 1, size: 2, status: 'finalized' })).toMatchObject({ serials: [3, 2], total: 3 });
  expect(await serials({ page: 2, size: 2, status: 'finalized' })).toMatchObject({ serials: [1], total: 3 });
});
