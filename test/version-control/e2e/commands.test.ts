import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Resource, related } from '#clients/client/client.ts';
import { client, newName, organization, platform } from '#test/e2e/support/world.ts';
import { type ForgeServer, startForge } from '../support/forge-server.ts';

/** `stepform vcs …` without a terminal, with a server that answers like GitHub. */

const command = fileURLToPath(new URL('../../../functions/clients/cli/stepform.mjs', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'stepform-vcs-'));
const name = newName('hub');
/** Follows the repository. */
const workspace = newName();

let forge: ForgeServer;
beforeAll(async () => {
  forge = await startForge();
  const sha = 'a'.repeat(40);
  const repository = { id: 1, full_name: 'acme/network', default_branch: 'main', permissions: { admin: true } };
  forge.on('GET', '/repos/acme/network', { body: repository });
  forge.on('GET', '/repos/acme/network/branches/main', { body: { commit: { sha } } });
  forge.on('GET', /\/commits\//, { body: { sha, commit: { message: 'A commit' } } });
  forge.on('GET', /\/hooks$/, { body: [] });
  forge.on('POST', /\/hooks$/, { status: 201, body: { id: 5 } });
});
afterAll(async () => {
  rmSync(home, { recursive: true });
  await forge.close();
});

const stepform = async (words: string[], input = ''): Promise<{ code: number; out: string; err: string }> => {
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    TFE_ADDRESS: platform.url,
    TF_CLOUD_ORGANIZATION: organization,
    STEPFORM_DATA: join(home, 'none'),
  };
  const child = spawn(process.execPath, [command, ...words], { cwd: home, env });
  child.stdin.end(input);
  const ended = new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? -1)));
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, out, err };
};

const connection = async (): Promise<Resource> =>
  (await client.list(`/organizations/${organization}/oauth-clients`)).find(
    ({ attributes }) => attributes.name === name,
  ) as Resource;

/** Messages about the repository, of this connection only: other files have theirs. */
const events = async (level = 'info,error'): Promise<Resource[]> => {
  const { id } = await connection();
  const filter = `filter[oauth_client_external_ids]=${id}&filter[levels]=${level}`;
  const all = await client.list(`/organizations/${organization}/vcs-events?page[size]=100&${filter}`);
  return all.filter(({ attributes }) => attributes.message.includes('acme/network'));
};

it('the command line connects a forge with a piped token, connects a workspace to a repository, and links an account', async () => {
  await client.createWorkspace(organization, workspace);
  expect(await stepform(['login'], `${platform.token}\n`)).toMatchObject({ code: 0 });
  const to = ['vcs', 'connect', 'github_enterprise', '--url', forge.url, '--api-url', forge.url, '--name', name];
  const refused = await stepform(to, 'wrong');
  expect([refused.code, refused.err]).toEqual([expect.any(Number), expect.stringContaining('refused the token')]);
  expect(refused.code).not.toBe(0);
  expect(await stepform(to, '\n')).toMatchObject({ code: 2, err: expect.stringContaining('No access token given') });
  expect(await stepform(to, 'good\n')).toMatchObject({
    code: 0,
    out: 'Connected as octocat. Connect a workspace to a repository: stepform vcs follow <owner/name> --workspace <name>\n',
  });
  // Columns are as wide as the connections of other files need.
  const row = new RegExp(`^${name} +oc-\\w+ +GitHub Enterprise +${forge.url} *$`, 'm');
  expect((await stepform(['vcs', 'list'])).out).toMatch(row);
  const follow = ['vcs', 'follow', 'acme/network', '--connection', name, '--workspace', workspace];
  const first = `stepform runs start --latest --workspace ${workspace}`;
  expect(await stepform(follow)).toMatchObject({
    code: 0,
    out: expect.stringContaining(
      `Workspace ${workspace} follows acme/network. Pushes start runs once it has had one: ${first}\n`,
    ),
  });
  const linked = await stepform(['vcs', 'link', 'octocat', '--connection', name]);
  expect(linked.out).toMatch(
    /^Within ten minutes, comment this on a pull request as octocat:\nstepform link [\w-]{43}\n$/,
  );
  expect(await stepform(['vcs', 'check', '--workspace', workspace])).toEqual({
    code: 0,
    out: 'Looking for the newest commit of acme/network. See: stepform vcs events\n',
    err: '',
  });
  await expect.poll(async () => (await events()).length).toBeGreaterThan(0);
  expect((await stepform(['vcs', 'events'])).out).toContain('acme/network');
  const unknown = await stepform(['vcs', 'link', 'octocat', '--connection', 'none']);
  expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining('No such connection')]);
  expect((await stepform(['vcs', 'connect', 'cvs'], 'good')).err).toContain('Unknown provider cvs');
  const forgejo = ['vcs', 'connect', 'forgejo', '--url', forge.url, '--api-url', forge.url];
  expect(await stepform(forgejo, 'good')).toMatchObject({ code: 0 });
});

it('the command line replaces the token of a connection, and redelivers', async () => {
  forge.tokens.delete('good');
  const token = related(await connection(), 'oauth-tokens');
  await expect(client.call('GET', `/oauth-tokens/${token}/authorized-repos`)).rejects.toThrow('refused the token');
  expect((await stepform(['vcs', 'list'])).out).toContain('no longer accepts the token');
  await stepform(['vcs', 'check', '--workspace', workspace]);
  await expect.poll(async () => (await events('error')).length).toBeGreaterThan(0);
  expect((await stepform(['vcs', 'events', '--errors'])).out).toMatch(/ error +[^\n]*acme\/network/);
  forge.tokens.add('another');
  expect(await stepform(['vcs', 'rotate', name], 'another\n')).toMatchObject({ code: 0, out: 'Token replaced.\n' });
  forge.tokens.add('good');
  expect((await stepform(['vcs', 'list'])).out).not.toContain('no longer accepts');
  const ours = async () => (await events()).filter(({ attributes }) => attributes['delivery-id']);
  const before = await ours();
  const again = await stepform(['vcs', 'redeliver', before[0]?.id ?? '']);
  expect(again).toEqual({ code: 0, out: 'Delivered again. See: stepform vcs events\n', err: '' });
  await expect.poll(async () => (await ours()).length).toBe(before.length + 1);
  expect(await stepform(['vcs', 'redeliver', 've-none'])).toEqual({
    code: 4,
    out: '',
    err: '✗ No event ve-none in the last 10 days.\n',
  });
});

it('the command line shows the commit of a run', async () => {
  const workspace = await client.createWorkspace(organization, newName(), {
    'queue-all-runs': true,
    'vcs-repo': { identifier: 'acme/network', 'oauth-token-id': related(await connection(), 'oauth-tokens') ?? '' },
  });
  const runs = () => client.list(`/workspaces/${workspace.id}/runs`);
  await expect.poll(async () => (await runs()).length).toBe(1);
  const [run] = await runs();
  const { out } = await stepform(['runs', 'show', run?.id ?? '']);
  expect(out).toContain('Commit aaaaaaaa on main of acme/network');
  expect(out).toContain('from a commit');
  const json = JSON.parse((await stepform(['runs', 'show', run?.id ?? '', '--json'])).out);
  const commit = json.included.find(({ type }: Resource) => type === 'ingress-attributes');
  expect(commit.attributes['commit-sha']).toBe('a'.repeat(40));
});

it('the command line disconnects a workspace, and deletes a connection', async () => {
  const workspace = await client.createWorkspace(organization, newName(), {
    'vcs-repo': { identifier: 'acme/network', 'oauth-token-id': related(await connection(), 'oauth-tokens') ?? '' },
  });
  const unfollow = ['vcs', 'unfollow', '--workspace', String(workspace.attributes.name)];
  expect((await stepform(unfollow)).out).toBe(
    `Workspace ${workspace.attributes.name} no longer follows acme/network.\n`,
  );
  expect((await client.get(`/workspaces/${workspace.id}`)).attributes['vcs-repo']).toBeNull();
  expect(await stepform(['vcs', 'disconnect', name])).toEqual({
    code: 2,
    out: '',
    err: '✗ Deleting needs a confirmation. Give --yes.\n',
  });
  expect((await stepform(['vcs', 'disconnect', name, '--yes'])).out).toBe(`Connection ${name} deleted.\n`);
  expect((await stepform(['vcs', 'list'])).out).not.toContain(name);
});
