import { describe, expect, it } from 'vitest';
import { keys } from '#platform/store/keys.ts';
import type { NewStateVersion } from '#resources/states/records.ts';
import type { StateVersion } from '#resources/states/state-version.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import { uniqueName } from '#test/support/api.ts';
import { startAws } from '#test/support/aws.ts';
import { stateFile } from '#test/support/state.ts';
import { startStorage } from '#test/support/storage.ts';

/** State versions created with their content are counted by the write that makes them current. */

const aws = await startAws();
await startStorage();
const { sha256Of } = await import('#platform/store/integrity.ts');
const { update } = await import('#platform/store/table.ts');
const finalize = await import('#resources/states/finalize.ts');
const { listStateVersions } = await import('#resources/states/history.ts');
const { createStateVersion, getStateVersion } = await import('#resources/states/records.ts');
const workspaces = await import('#resources/workspaces/records.ts');

const read = async (id: string) => (await workspaces.getWorkspace(id)) as Workspace;
const count = async (id: string) => (await read(id)).stateVersionCount ?? 0;

const runOf = (workspaceId: string) => `run-of-${workspaceId}`;

/** A workspace held by its run. */
const held = async (): Promise<string> => {
  const settings = { ...workspaces.defaultSettings, organization: 'acme', projectId: 'prj-1', tags: [] };
  const workspace = await workspaces.createWorkspace({ ...settings, name: uniqueName('ws') });
  const { id } = workspace as Workspace;
  const lock = { kind: 'run', runId: runOf(id), at: '2026-01-01T00:00:00.000Z' };
  await update(keys.workspace(id), { set: { lock } });
  return id;
};

const announce = async (id: string, serial: number, change: Partial<NewStateVersion> = {}) => {
  const file = stateFile({ serial });
  const content = Buffer.from(file.text);
  const outcome = await createStateVersion({
    ...{ workspace: await read(id), runId: runOf(id), userId: 'user-1', force: false, intermediate: false },
    ...{ serial, lineage: file.lineage, md5: file.md5, sha256: sha256Of(content), counts: 'when current' },
    ...change,
  });
  if ('conflict' in outcome) throw new Error(outcome.conflict);
  return { version: outcome.stateVersion, content };
};

describe('a state version created with its content', () => {
  it('is counted when it becomes current, and not before', async () => {
    const id = await held();
    const { version, content } = await announce(id, 1);
    expect(await count(id)).toBe(0);
    await finalize.storeState(version, content);
    expect(await count(id)).toBe(1);
    expect((await listStateVersions(await read(id), { page: 1, size: 10 })).total).toBe(1);
  });

  it('is counted once under concurrent repeats', async () => {
    const id = await held();
    const { version, content } = await announce(id, 1);
    const all = await Promise.all([1, 2, 3].map(() => finalize.storeState(version, content)));
    expect(all.map(({ status }) => status)).toEqual(['finalized', 'finalized', 'finalized']);
    expect(await count(id)).toBe(1);
  });

  it('is counted once when its writer stops at any call and repeats it', async () => {
    for (const when of ['before', 'after'] as const) {
      for (let call = 1; call <= 2; call++) {
        const id = await held();
        const { version, content } = await announce(id, 1);
        aws.failCall(call, when);
        await expect(finalize.storeState(version, content)).rejects.toThrow();
        const again = await announce(id, 1);
        expect(again.version.id).toBe(version.id);
        // Its content is stored.
        expect((await finalize.finalizeStateVersion(again.version)).status).toBe('finalized');
        expect(await count(id)).toBe(1);
      }
    }
  });

  it('that became current is finalized by a repeat after its lock was released, and counted once', async () => {
    const id = await held();
    const { version, content } = await announce(id, 1);
    aws.failCall(1, 'after');
    await expect(finalize.storeState(version, content)).rejects.toThrow();
    await update(keys.workspace(id), { remove: ['lock'] });
    expect((await finalize.storeState(version, content)).status).toBe('finalized');
    expect(await count(id)).toBe(1);
  });

  it.each<[NewStateVersion['counts']]>([['when current'], [true]])(
    'counted %s is counted beside another one with the same content',
    async (counts) => {
      const id = await held();
      const lockFor = (runId: string) => update(keys.workspace(id), { set: { 'lock.runId': runId } });
      const one = await announce(id, 1, { counts });
      await lockFor('run-2');
      const two = await announce(id, 1, { counts, runId: 'run-2' });
      await lockFor(runOf(id));
      await finalize.storeState(one.version, one.content);
      await lockFor('run-2');
      expect((await finalize.storeState(two.version, two.content)).status).toBe('finalized');
      expect(await count(id)).toBe(2);
      expect((await read(id)).state?.id, 'the first one stays current').toBe(one.version.id);
    },
  );

  it('of one run has the same id under concurrent repeats, and another one after it was discarded', async () => {
    const id = await held();
    const [one, two] = await Promise.all([announce(id, 1), announce(id, 1)]);
    expect(two.version.id).toBe(one.version.id);
    const { lock } = await read(id);
    await update(keys.workspace(id), { remove: ['lock'] });
    await expect(finalize.storeState(one.version, one.content)).rejects.toThrow(/unlocked/);
    await update(keys.workspace(id), { set: { lock } });
    const again = await announce(id, 1);
    expect(again.version.id).not.toBe(one.version.id);
    expect((await finalize.storeState(again.version, again.content)).status).toBe('finalized');
  });

  it('is the current one if that has the same content, also from another run', async () => {
    const id = await held();
    const { version, content } = await announce(id, 1);
    await finalize.storeState(version, content);
    const lock = { kind: 'run', runId: 'run-2', at: '2026-01-01T00:00:00.000Z' };
    await update(keys.workspace(id), { set: { lock } });
    expect((await announce(id, 1, { runId: 'run-2' })).version.id).toBe(version.id);
  });

  it.each<[NewStateVersion['counts']]>([['when current'], [true]])(
    'counted %s stays in the list when it is discarded',
    async (counts) => {
      const id = await held();
      const { version, content } = await announce(id, 1, { counts });
      await update(keys.workspace(id), { remove: ['lock'] });
      await expect(finalize.storeState(version, content)).rejects.toThrow(/unlocked/);
      expect(await count(id)).toBe(1);
      const { items, total } = await listStateVersions(await read(id), { page: 1, size: 10 });
      expect([items.map((one) => one.status), total]).toEqual([['discarded'], 1]);
    },
  );

  it('is not counted again when an older version counted it on creation', async () => {
    const id = await held();
    const { version, content } = await announce(id, 1, { counts: true });
    expect(await count(id)).toBe(1);
    await finalize.storeState(version, content);
    expect(await count(id)).toBe(1);
    expect(((await getStateVersion(version.id)) as StateVersion).status).toBe('finalized');
  });
});
