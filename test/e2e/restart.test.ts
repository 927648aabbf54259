import { execFile } from 'node:child_process';
import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { databaseFile } from '#infra/local/host/database.ts';
import { PlatformProcess } from './support/platform.ts';
import { descendants, isAlive, killAll } from './support/processes.ts';
import { runners, send } from './support/runners.ts';
import { Client, isFinalRun, type Resource, until, untilHeld } from './support/waiting.ts';
import { newName, resources } from './support/world.ts';

/** Restores, stops and kills a separate platform; no data may be lost, and nothing is applied twice. */

let platform: PlatformProcess;
let client: Client;
beforeAll(async () => {
  platform = await PlatformProcess.start();
  client = new Client(platform.local.url, platform.local.token);
});
afterAll(async () => {
  await platform.remove();
  await rm(earlier(), { force: true });
});

const earlier = (): string => `${platform.dataDir}.sqlite`;

/** Takes the items and indexes of the earlier database into the current one. */
const restoreTable = (): void => {
  const db = new DatabaseSync(join(platform.dataDir, databaseFile));
  db.exec(`ATTACH '${earlier()}' AS earlier`);
  const named =
    "SELECT name FROM earlier.sqlite_schema WHERE type = 'table' AND (name LIKE 'items %' OR name LIKE 'index %')";
  const names = db.prepare(named).all();
  expect(names.length).toBeGreaterThan(1);
  for (const { name } of names)
    db.exec(`DELETE FROM main."${name}"; INSERT INTO main."${name}" SELECT * FROM earlier."${name}"`);
  db.close();
};

const start = async (
  files: Record<string, string>,
  attributes = {},
): Promise<{ workspace: Resource; run: Resource; version: Resource }> => {
  const workspace = await client.createWorkspace(platform.local.organization, newName());
  const version = await client.upload(workspace.id, await packFiles(files));
  return { workspace, version, run: await client.createRun(workspace.id, attributes, version.id) };
};
/** Resolves once the run waits for a confirmation or has ended. */
const planned = ({ id }: Resource) =>
  client.waitForRun(id, (run) => run.attributes.actions['is-confirmable'] || isFinalRun(run));
const slow = (name: string, seconds: number) => `resource "terraform_data" "${name}" {
  provisioner "local-exec" {
    command = "sleep ${seconds}"
  }
}`;

/** Ends all runners: their later effects would belong to another time. */
const stop = async () => {
  await platform.stop();
  for (const runner of runners(platform.dataDir)) send(runner, 'SIGKILL');
  await until(
    async () => runners(platform.dataDir),
    ({ length }) => length === 0,
    60_000,
  );
};

const recover = async (restoredTo: string) => {
  const run = promisify(execFile)(process.execPath, ['functions/clients/cli/stepform.mjs', 'recover', restoredTo], {
    env: { ...process.env, STEPFORM_DATA: platform.dataDir },
  });
  const { stdout, stderr } = await run.catch((error: { stdout: string; stderr: string }) => error);
  return stdout ? JSON.parse(stdout) : { said: stderr };
};

/** Repeats the recovery until it is complete, like operators; resolves to all reports together. */
const recoverWholly = async (restoredTo: string) => {
  const reports: Awaited<ReturnType<typeof recover>>[] = [];
  await until(
    async () => reports[reports.push(await recover(restoredTo)) - 1],
    ({ done }) => done,
  );
  return (what: string) => reports.flatMap((report) => report[what]);
};

/** The table goes back in time; the bucket, executions and real resources do not, as on AWS. */
it('a table restore ends runs and applies nothing twice', async () => {
  const files = { 'main.tf': resources(['a']) };
  const { workspace: applied, run, version } = await start(files);
  const { run: other } = await start(files);
  expect((await planned(run)).attributes.status).toBe('planned');
  expect((await planned(other)).attributes.status).toBe('planned');

  await stop();
  const restoredTo = new Date().toISOString();
  await copyFile(join(platform.dataDir, databaseFile), earlier());

  // Then another run applies, and one more run is created that the restored table will not contain.
  await platform.start();
  await client.act(run.id, 'apply');
  expect((await client.waitForRun(run.id, isFinalRun)).attributes.status).toBe('applied');
  const { workspace: late, run: unknown } = await start(files);
  await planned(unknown);
  await stop();
  restoreTable();

  await platform.start();
  await expect(client.get(`/workspaces/${late.id}`)).rejects.toMatchObject({ status: 404 });
  const reported = await recoverWholly(restoredTo);
  expect(reported('statesBroughtIn')).toEqual([{ workspaceId: applied.id, serial: 1 }]);
  expect(reported('statesLeft')).toEqual([]);
  expect(reported('runsEnded').sort()).toEqual([run.id, other.id].sort());
  expect(reported('executionsStopped')).toContain(unknown.id);
  for (const { id } of [run, other]) {
    const ended = await client.waitForRun(id, isFinalRun);
    expect(ended.attributes).toMatchObject({
      status: 'errored',
      'end-reason': expect.stringContaining(`restored to ${restoredTo}`),
    });
    await expect(client.act(id, 'apply')).rejects.toMatchObject({ status: 409 });
  }
  // The workspace has its latest state again, so that the next plan finds all resources.
  const state = await client.get(`/workspaces/${applied.id}/current-state-version`);
  expect(state.attributes).toMatchObject({ serial: 1, status: 'finalized' });
  const again = await planned(await client.createRun(applied.id, {}, version.id));
  expect(again.attributes).toMatchObject({ status: 'planned_and_finished', 'has-changes': false });

  // The runner of that plan may be exiting.
  const repeated = await recoverWholly(restoredTo);
  for (const what of ['statesBroughtIn', 'runsEnded', 'executionsStopped']) expect(repeated(what)).toEqual([]);
  // Enough for three starts of the platform and four runs.
}, 300_000);

it('the local platform stops cleanly; after a kill -9, a run that waited for confirmation can still be confirmed, and one that applied continues', async () => {
  const { run, workspace } = await start({ 'main.tf': resources(['a']) });
  await planned(run);
  expect(await platform.stop('SIGTERM')).toBe(0);
  await platform.start();
  const { run: short } = await start({ 'main.tf': slow('short', 6) }, { 'auto-apply': true });
  await client.waitForRun(short.id, ({ attributes }) => attributes.status === 'applying');
  const survivors = descendants(platform.local.pid);
  await platform.stop('SIGKILL');
  expect(survivors.some(({ pid }) => isAlive(pid))).toBe(true);
  await platform.start();
  expect((await client.run(run.id)).attributes.actions['is-confirmable']).toBe(true);
  await client.act(run.id, 'apply');
  for (const { id } of [run, short])
    expect((await client.waitForRun(id, isFinalRun)).attributes.status).toBe('applied');
  expect((await client.get(`/workspaces/${workspace.id}/current-state-version`)).attributes.serial).toBe(1);
});

it('the local platform killed together with its terraform ends the run as errored, keeps the state, and locks the workspace', async () => {
  const after = 'resource "terraform_data" "after" {\n  depends_on = [terraform_data.late]\n}';
  const { workspace, run, version } = await start(
    { 'main.tf': `${resources(['quick'])}\n${slow('late', 60)}\n${after}` },
    { 'auto-apply': true },
  );
  const next = await client.createRun(workspace.id, {}, version.id);
  await client.waitForRun(run.id, ({ attributes }) => attributes.status === 'applying');
  // The quick resource is in the state before all processes are killed.
  const state = () => client.get(`/workspaces/${workspace.id}/current-state-version`).catch(() => undefined);
  await until(state, (version) => !!version);
  const victims = descendants(platform.local.pid);
  expect(victims.some(({ command }) => command.includes('terraform'))).toBe(true);
  await platform.stop('SIGKILL');
  killAll(victims);
  await platform.start();
  const ended = await client.waitForRun(run.id, isFinalRun);
  expect(ended.attributes.status).toBe('errored');
  expect(ended.attributes['end-reason']).toMatch(/The state may be stale: [12] of 3 resources recorded\./);
  expect((await state())?.attributes.resources.map(({ name }: { name: string }) => name)).toContain('quick');
  expect((await client.run(next.id)).attributes.status).toBe('pending');
  await untilHeld(client, workspace.id);
  await client.call('POST', `/workspaces/${workspace.id}/actions/force-unlock`);
  await planned(next);
});
