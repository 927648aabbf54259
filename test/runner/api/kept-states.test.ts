import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Workspace } from '#resources/workspaces/records.ts';
import type { Run } from '#run/run.ts';
import { startRunnerApi } from '#test/support/runner-api.ts';
import { stateFile } from '#test/support/state.ts';

/** A state that a runner kept on its disk, from the file to the workspace. */

let runner: Awaited<ReturnType<typeof startRunnerApi>>;
let store: Awaited<ReturnType<typeof load>>;
let url: string;
let folder: string;
const load = async () => ({
  ...(await import('#lifecycle/phases/finish.ts')),
  ...(await import('#lifecycle/queue/locks.ts')),
  ...(await import('#platform/store/secrets.ts')),
  ...(await import('#platform/store/table.ts')),
  ...(await import('#platform/store/keys.ts')),
  ...(await import('#runner/program/kept-states.ts')),
});
/** The runner API's function behind HTTP, for the program that sends the files. */
const server = createServer(async (request, response) => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  const { status, body } = await runner.call('', 'kept-state', JSON.parse(Buffer.concat(parts).toString()));
  response.writeHead(status ?? 500).end(JSON.stringify(body));
});
beforeAll(async () => {
  runner = await startRunnerApi();
  store = await load();
  folder = mkdtempSync(join(tmpdir(), 'kept-'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.close();
  rmSync(folder, { recursive: true });
  await runner.close();
});

const kept = (serial: number, lineage = 'l') => Buffer.from(stateFile({ serial, lineage }).text);
const send = async () => {
  const said: string[] = [];
  const left = await store.sendKeptStates(url, folder, (text) => said.push(text));
  return { left, said: said.join('\n') };
};
const workspaceOf = (id: string) => store.get<Workspace>(store.keys.workspace(id));
const runOf = (id: string) => store.get<Run>(store.keys.run(id));

/** An apply whose runner kept a state, and has ended without a report. */
const lost = async ({ isOver = true, content = kept(4) } = {}) => {
  const { run, workspace } = await runner.claim('apply');
  await runner.help.bring(run, { status: 'applying', current: true, 'apply.status': 'running' });
  const state = { id: 'sv-3', serial: 3, lineage: 'l', md5: 'd41d8cd98f00b204e9800998ecf8427e', at: '', resources: 0 };
  await store.update(store.keys.workspace(workspace), { set: { state } });
  const file = store.keptStatePath(folder, run);
  await store.writeKeptState(file, content, run, await store.newDataKey(store.keptStateContext(run)));
  const end = () => store.finishRun(run, 'ApplyErrored', { Error: 'States.HeartbeatTimeout' });
  if (isOver) await end();
  return { run, workspace, file, end };
};

describe('a state that a runner kept', () => {
  it('becomes the state of the workspace, which is unlocked then', async () => {
    const { run, workspace, file } = await lost();
    expect((await workspaceOf(workspace))?.lock?.unsaved).toMatchObject({ lost: true });
    expect(await send()).toMatchObject({ left: 0, said: expect.stringContaining('was sent to its run') });
    const { state, lock } = (await workspaceOf(workspace)) ?? {};
    expect(state).toMatchObject({ serial: 4, lineage: 'l' });
    expect(lock).toBeUndefined();
    const ended = await runOf(run);
    expect(ended?.unsaved).toBeUndefined();
    expect(ended?.endReason).toMatch(
      /^The runner stopped answering.* The workspace now has the newest state \(serial 4\)/,
    );
    expect(ended?.endReason).not.toContain('stays locked');
    expect(existsSync(file)).toBe(false);
    const events = (await runner.api.get(`runs/${run}/run-events`)).body.data;
    expect(events.map((event: { attributes: { action: string } }) => event.attributes.action)).toContain(
      'state_taken_in',
    );
  });

  it('waits for the end of its run', async () => {
    const { workspace, file, end } = await lost({ isOver: false });
    expect(await send()).toMatchObject({ left: 1 });
    expect(existsSync(file)).toBe(true);
    await end();
    expect(await send()).toMatchObject({ left: 0 });
    expect((await workspaceOf(workspace))?.state?.serial).toBe(4);
  });

  it('is stored once, even if it is sent repeatedly', async () => {
    const { run, file } = await lost();
    const content = readFileSync(file);
    await send();
    const before = await runOf(run);
    writeFileSync(file, content);
    expect(await send()).toMatchObject({ left: 0 });
    expect(await runOf(run)).toEqual(before);
  });

  it.each<[string, (workspace: string) => Promise<unknown>, ReturnType<typeof kept>]>([
    ['a person force-unlocked the workspace', (workspace) => store.unlockWorkspace(workspace), kept(4)],
    ['it is of other infrastructure', async () => {}, kept(4, 'other')],
  ])('can be downloaded if %s', async (_, meanwhile, content) => {
    const { run, workspace } = await lost({ content });
    await meanwhile(workspace);
    expect(await send()).toMatchObject({ left: 0 });
    expect((await workspaceOf(workspace))?.state?.serial).toBe(3);
    const errored = await runner.api.get(`applies/${run.replace('run-', 'apply-')}/errored-state`);
    const answer = await fetch(errored.headers.location ?? '');
    expect(Buffer.from(await answer.arrayBuffer()).equals(content)).toBe(true);
  });

  it('is rejected if it was changed or belongs to another run', async () => {
    const { workspace, file } = await lost();
    const content = readFileSync(file);
    const other = await lost();
    const header = content.subarray(0, content.indexOf('\n')).toString();
    const changed = Buffer.from(content);
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
    const renamed = Buffer.from(
      content.toString('latin1').replace(header, header.replace(/run-\w+/, other.run)),
      'latin1',
    );
    rmSync(other.file);
    for (const wrong of [changed, renamed]) {
      writeFileSync(file, wrong);
      expect(await send()).toMatchObject({ left: 0, said: expect.stringContaining('cannot be sent: HTTP 403') });
    }
    for (const id of [workspace, other.workspace]) expect((await workspaceOf(id))?.state?.serial).toBe(3);
    rmSync(file);
  });
});
