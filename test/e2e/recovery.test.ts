import { execFile } from 'node:child_process';
import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { databaseFile } from '#infra/local/host/database.ts';
import { PlatformProcess } from './support/platform.ts';
import { runners, send } from './support/runners.ts';
import { Client, isFinalRun, type Resource, until } from './support/waiting.ts';
import { newName, resources } from './support/world.ts';

/** The table goes back in time; the bucket, executions and real resources do not, as on AWS. */

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

const newWorkspace = () => client.createWorkspace(platform.local.organization, newName());
const files = { 'main.tf': resources(['a']) };
const startRun = async ({ id }: Resource): Promise<Resource> => {
  const version = await client.upload(id, await packFiles(files));
  return client.createRun(id, {}, version.id);
};
const planned = (run: Resource) =>
  client.waitForRun(run.id, (now) => now.attributes.actions['is-confirmable'] || isFinalRun(now));

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

it('a table restore ends runs and applies nothing twice', async () => {
  const [applied, waiting] = [await newWorkspace(), await newWorkspace()];
  const [run, other] = [await startRun(applied), await startRun(waiting)];
  expect((await planned(run)).attributes.status).toBe('planned');
  expect((await planned(other)).attributes.status).toBe('planned');

  await stop();
  const restoredTo = new Date().toISOString();
  await copyFile(join(platform.dataDir, databaseFile), earlier());

  // Then another run applies, and one more run is created that the restored table will not contain.
  await platform.start();
  await client.act(run.id, 'apply');
  expect((await client.waitForRun(run.id, isFinalRun)).attributes.status).toBe('applied');
  const late = await newWorkspace();
  const unknown = await startRun(late);
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
  const again = await planned(await startRun(applied));
  expect(again.attributes).toMatchObject({ status: 'planned_and_finished', 'has-changes': false });

  // The runner of that plan may be exiting.
  const repeated = await recoverWholly(restoredTo);
  for (const what of ['statesBroughtIn', 'runsEnded', 'executionsStopped']) expect(repeated(what)).toEqual([]);
  // Enough for three starts of the platform and four runs.
}, 300_000);
