import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Platform, startPlatform } from '#infra/local/commands/platform.ts';
import type { Local } from '#infra/local/host/folder.ts';
import { dataFormat } from '#infra/settings/data-format.ts';
import { temporaryFolder } from './support/functions.ts';
import { until } from './support/until.ts';

/** The real application, synthesized from this checkout. */

const open: Platform[] = [];
const children: ChildProcess[] = [];
afterEach(async () => {
  for (const platform of open.splice(0)) await platform.close();
  for (const child of children.splice(0)) child.kill('SIGKILL');
});
const start = async (dataDir: string) => {
  const platform = await startPlatform({ dataDir, port: 0, httpsPort: 0 });
  open.push(platform);
  return platform;
};
const stop = async () => open.pop()!.close();

const readLocal = (dataDir: string) => JSON.parse(readFileSync(join(dataDir, 'local.json'), 'utf8')) as Local;

const ask = async ({ token, url }: Local, path: string, init: RequestInit = {}) => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/vnd.api+json' };
  return fetch(`${url}/api/v2${path}`, { headers, ...init });
};
const createWorkspace = (local: Local, name: string) =>
  ask(local, `/organizations/${local.organization}/workspaces`, {
    method: 'POST',
    body: JSON.stringify({ data: { type: 'workspaces', attributes: { name } } }),
  });

describe('the platform', () => {
  it("prints its address and the owner's token when ready", async () => {
    const dataDir = temporaryFolder();
    const { local } = await start(dataDir);
    expect(readLocal(dataDir)).toEqual(local);
    expect(statSync(join(dataDir, 'local.json')).mode & 0o777).toBe(0o600);
    expect(local).toEqual({
      url: expect.stringMatching(/^http:\/\/localhost:\d+$/),
      httpsUrl: expect.stringMatching(/^https:\/\/localhost:\d+$/),
      environmentsUrl: expect.stringMatching(/^http:\/\/localhost:\d+$/),
      caFile: join(dataDir, 'tls', 'ca.pem'),
      organization: 'local',
      token: expect.stringMatching(/.{30}/),
      awsEndpointUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      awsCredentials: { accessKeyId: expect.any(String), secretAccessKey: expect.stringMatching(/^\S{43}$/) },
      stateMachineArn: expect.stringMatching(/^arn:aws:states:us-east-1:000000000000:stateMachine:/),
      tableName: expect.any(String),
      bucketName: expect.any(String),
      pid: process.pid,
    });
    expect((await ask(local, '/organizations/local')).status).toBe(200);
    expect((await ask({ ...local, token: 'wrong' }, '/organizations/local')).status).toBe(401);
    const secure = await new Promise((done, fail) => {
      const ca = readFileSync(local.caFile);
      get(`${local.httpsUrl}/api/v2/ping`, { ca, agent: false }, (response) => {
        response.resume();
        done(response.statusCode);
      }).once('error', fail);
    });
    expect(secure).toBeLessThan(500);
    const health = await fetch(`${local.url}/healthz`);
    expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }]);
  });

  it('keeps data, token and ports across a restart', async () => {
    const dataDir = temporaryFolder();
    const { local: before } = await start(dataDir);
    expect((await createWorkspace(before, 'kept')).status).toBe(201);
    await stop();
    await expect(fetch(before.url)).rejects.toThrow();
    const { local: after } = await start(dataDir);
    expect(after).toEqual(before);
    expect((await ask(after, '/organizations/local/workspaces/kept')).status).toBe(200);
  });

  it('creates another owner token when the first was never saved', async () => {
    const dataDir = temporaryFolder();
    await start(dataDir);
    await stop();
    rmSync(join(dataDir, 'local.json'));
    const { local } = await start(dataDir);
    expect((await ask(local, '/organizations/local')).status).toBe(200);
  });

  it('locks its folder', async () => {
    const dataDir = temporaryFolder();
    await start(dataDir);
    await expect(startPlatform({ dataDir, port: 0, httpsPort: 0 })).rejects.toThrow(
      `a platform already runs on ${dataDir} (process ${process.pid} on `,
    );
    // The refused start changed nothing for the running platform.
    await expect(startPlatform({ dataDir, port: 0, httpsPort: 0 })).rejects.toThrow('already runs');
    expect((await ask(open[0]!.local, '/organizations/local')).status).toBe(200);
  });

  it('fails the health check of load balancers when it cannot write', async () => {
    const dataDir = temporaryFolder();
    const { local } = await start(dataDir);
    renameSync(join(dataDir, 'tasks'), join(dataDir, 'away'));
    const health = await fetch(`${local.url}/healthz`);
    renameSync(join(dataDir, 'away'), join(dataDir, 'tasks'));
    expect([health.status, await health.json()]).toEqual([
      503,
      { status: 'failing', failures: [expect.stringContaining('tasks in the data folder cannot be written')] },
    ]);
  });

  it('refuses emptied tables instead of starting an empty platform, and a folder of a newer version', async () => {
    const dataDir = temporaryFolder();
    await start(dataDir);
    await stop();
    truncateSync(join(dataDir, 'data.sqlite'));
    await expect(startPlatform({ dataDir, port: 0, httpsPort: 0 })).rejects.toThrow('data.sqlite is empty');
    writeFileSync(join(dataDir, 'data-folder.json'), JSON.stringify({ format: dataFormat + 1 }));
    // Twice: the refusal releases the folder.
    for (let n = 0; n < 2; n++)
      await expect(startPlatform({ dataDir, port: 0, httpsPort: 0 })).rejects.toThrow('written by a newer version');
  });

  it('names a port in use and unlocks the folder', async () => {
    const { local } = await start(temporaryFolder());
    const port = Number(new URL(local.url).port);
    const dataDir = temporaryFolder();
    await expect(startPlatform({ dataDir, port, httpsPort: 0 })).rejects.toThrow(`port ${port} is in use; set PORT`);
    expect((await start(dataDir)).local.pid).toBe(process.pid);
  });
});

describe('npm start', () => {
  const program = resolve(import.meta.dirname, '../../../infra/local/commands/start.ts');
  const run = (dataDir: string, environment: NodeJS.ProcessEnv = {}, args: string[] = []) => {
    const child = spawn(process.execPath, [program, ...args], {
      env: { ...process.env, STEPFORM_DATA: dataDir, PORT: '0', HTTPS_PORT: '0', ...environment },
    });
    children.push(child);
    const said = { text: '' };
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (said.text += data));
    const ended = new Promise<string>((done) => child.once('exit', (code, signal) => done(String(signal ?? code))));
    const ready = () => until('it is ready', () => /Ctrl-C/.test(said.text) && said.text, 90_000);
    return { child, ended, ready, said };
  };

  it('prints the first steps, survives kill -9, and stops on SIGINT', async () => {
    const dataDir = temporaryFolder();
    const first = run(dataDir);
    const text = await first.ready();
    const local = readLocal(dataDir);
    expect(text).toMatch(/^Starting stepform …/);
    expect(text).toMatch(/stepform is ready after \d+\.\d s/);
    for (const part of [
      `${local.url}/api/v2`,
      local.token,
      `hostname     = "localterraform.com"`,
      'organization = "local"',
      local.caFile,
    ])
      expect(text).toContain(part);
    expect(local.pid).toBe(first.child.pid);
    expect((await createWorkspace(local, 'kept')).status).toBe(201);
    first.child.kill('SIGKILL');
    expect(await first.ended).toBe('SIGKILL');

    const second = run(dataDir);
    await second.ready();
    const again = readLocal(dataDir);
    expect({ ...again, pid: 0 }).toEqual({ ...local, pid: 0 });
    expect((await ask(again, '/organizations/local/workspaces/kept')).status).toBe(200);
    second.child.kill('SIGTERM');
    expect(await second.ended).toBe('0');
  });

  it('rejects invalid options with a message', async () => {
    const { ended, said } = run(temporaryFolder(), { PORT: 'http' });
    expect(await ended).toBe('1');
    expect(said.text).toBe('stepform cannot start: PORT must be a port number, or 0 for any free one; it is http\n');
  });

  it.each([
    [['--recovered-to', 'yesterday'], '--recovered-to takes the time of the backup: --recovered-to <time>, e.g.'],
    [['--recovered-to'], '--recovered-to takes the time of the backup'],
    [['--port', '80'], 'unsupported arguments: --port 80. The only option is --recovered-to <time>'],
  ])('rejects the arguments %o with a message', async (args, message) => {
    const { ended, said } = run(temporaryFolder(), {}, args);
    expect(await ended).toBe('1');
    expect(said.text).toContain(`stepform cannot start: ${message}`);
  });
});
