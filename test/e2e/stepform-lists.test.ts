import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { exit } from '#clients/cli/exit.ts';
import { resource, stateFile } from '#test/support/state.ts';
import {
  client,
  giveAccess,
  newName,
  newWorkspace,
  organization,
  platform,
  pushState,
  resources,
  startRun,
  untilConfirmable,
  untilFinal,
} from './support/world.ts';

/** Lists, settings, projects and variable sets from the command line, as in scripts. */

const command = fileURLToPath(new URL('../../functions/clients/cli/stepform.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'stepform-lists-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const stepform = (...args: string[]) => stepformAs(platform.token, ...args);
const stepformAs = async (token: string, ...args: string[]) => {
  const env = {
    ...process.env,
    TFE_ADDRESS: platform.url,
    TFE_TOKEN: token,
    TF_CLOUD_ORGANIZATION: organization,
  };
  const child = spawn(process.execPath, [command, ...args], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { out, err, code };
};

it('lists are a table with headings, JSON, or CSV without formulas', async () => {
  const workspace = await newWorkspace();
  const { name } = workspace.attributes;
  const run = await untilFinal(
    await startRun(workspace, { 'main.tf': resources(['a']) }, { message: '=1, "two"', 'plan-only': true }),
  );
  const list = (...format: string[]) => stepform('runs', 'list', '--workspace', name, ...format);
  const csv = (await list('--output', 'csv')).out.trim().split('\n');
  expect(csv[0]).toBe('id,status,since,message');
  expect(csv[1]).toMatch(new RegExp(`^${run.id},planned_and_finished,\\d{4}-.*Z,"'=1, ""two"""$`));
  const all = await stepform('runs', 'list', '--organization', organization, '--limit', '100', '--output', 'csv');
  expect(all.out).toMatch(new RegExp(`^id,status,since,workspace,message\n(.*\n)*${run.id},[^,]+,[^,]+,${name},`));
  expect((await list('--output', 'table')).out).toMatch(/^ID +STATUS +SINCE +MESSAGE\n/);
  expect(JSON.parse((await list('--output', 'json')).out).data[0].id).toBe(run.id);
  expect(await list('--output', 'yaml')).toMatchObject({
    code: exit.usage,
    err: expect.stringContaining('give one of table, json, csv'),
  });
  expect((await list('--json', '--output', 'csv')).out).toContain('cannot be combined');
});

it('a completion script is printed for a named shell', async () => {
  const { code, out } = await stepform('completion', 'bash');
  expect(code).toBe(exit.done);
  // What Tab offers after these words.
  const offered = (...words: string[]): string[] => {
    const typed = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}) COMP_CWORD=${words.length - 1}`;
    const script = `${out}\n${typed}\n_stepform\nprintf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split('\n');
  };
  expect(offered('stepform', 'lo')).toEqual(['login', 'logout', 'lock']);
  expect(offered('stepform', 'runs', 'co')).toEqual(['confirm']);
  expect(offered('stepform', 'runs', 'confirm', '--w')).toEqual(['--workspace', '--watch']);
  expect(offered('stepform', 'runs', 'list', '--output', '')).toEqual(['table', 'json', 'csv']);
  expect(await stepform('completion')).toMatchObject({
    code: exit.usage,
    err: expect.stringContaining('completion <bash|'),
  });
});

it('a command explains itself', async () => {
  expect(await stepform('runs', 'confirm', 'run-1', '--help')).toEqual({
    code: exit.done,
    err: '',
    out: expect.stringMatching(
      /^stepform runs confirm \[run\] \[options\]\nConfirm a run .*\n\n {2}-m, --comment <text> {7}comment (.*\n)* {6}--watch {16}watch (.*\n)*\nWithout a run ID, .*\n$/,
    ),
  });
});

it('a list has every workspace, from any number of pages, in natural order', async () => {
  const common = newName('many');
  const numbers = Array.from({ length: 103 }, (_, i) => i);
  for (let i = 0; i < numbers.length; i += 20) {
    await Promise.all(numbers.slice(i, i + 20).map((n) => client.createWorkspace(organization, `${common}-node${n}`)));
  }
  const [first] = (await client.some(`/organizations/${organization}/workspaces?search[name]=${common}`, 1)).data;
  await client.call('POST', `/workspaces/${first?.id}/actions/lock`, {});
  const listed = async (...format: string[]) =>
    (await stepform('workspaces', 'list', '--search', common, ...format)).out.trim().split('\n');
  const [, ...rows] = await listed('--output', 'csv');
  expect(rows.map((row) => Number(/-node(\d+),/.exec(row)?.[1]))).toEqual(numbers);
  const some = await stepform('workspaces', 'list', '--search', common, '--limit', '5');
  expect([some.out.trim().split('\n').length, some.err]).toEqual([
    5,
    'There are more workspaces. List them with --limit 25\n',
  ]);
  expect(some.out.match(/^.*locked.*$/gm)).toEqual([
    expect.stringMatching(
      new RegExp(`^${first?.attributes.name} +no runs yet +0 resources +locked by \\S+ (just now|\\d+ s ago)$`),
    ),
  ]);
});

it('a workspace is changed, moved and deleted; one with resources only by force', async () => {
  const [name, project] = [newName('settings'), newName('project')];
  await stepform('workspaces', 'create', name);
  expect((await stepform('projects', 'create', project)).out).toMatch(
    new RegExp(`^Created project ${project} \\(prj-\\w+\\)\\.\n$`),
  );
  expect((await stepform('projects', 'list', '--output', 'csv')).out).toContain(`\n${project},prj-`);
  const options = ['--auto-apply', 'on', '--description', 'Ours', '--project', project];
  const set = JSON.parse((await stepform('workspaces', 'settings', '-w', name, ...options, '--json')).out).data;
  expect(set.attributes).toMatchObject({ 'auto-apply': true, description: 'Ours' });
  expect((await client.get(`/projects/${set.relationships.project.data.id}`)).attributes.name).toBe(project);
  expect((await stepform('workspaces', 'settings', '-w', name)).out).toMatch(
    new RegExp(`^name +${name}\ndescription +Ours\nterraform-version +\\S+\n(.*\n)*auto-apply +true\n`),
  );
  const wrong = await stepform('workspaces', 'settings', '-w', name, '--project', `${project}x`);
  expect(wrong).toMatchObject({ code: exit.notFound, err: expect.stringContaining(`Did you mean ${project}?`) });
  await pushState(set, stateFile({ resources: [resource('terraform_data', 'a')] }));
  expect(await stepform('workspaces', 'delete', '-w', name)).toMatchObject({
    code: exit.usage,
    err: expect.stringContaining('--yes'),
  });
  const kept = await stepform('workspaces', 'delete', '-w', name, '--yes');
  expect(kept).toMatchObject({
    code: exit.notNow,
    err: expect.stringMatching(/still manages .*To destroy: stepform runs start --latest --destroy /),
  });
  expect((await stepform('workspaces', 'delete', '-w', name, '--yes', '--force')).out).toBe(
    `Workspace ${name} deleted.\n`,
  );
  expect((await stepform('workspaces', 'settings', '-w', name)).code).toBe(exit.notFound);
  expect((await stepform('projects', 'delete', project, '--yes')).out).toBe(`Deleted project ${project}.\n`);
});

it('a variable set is created, filled, attached, detached and deleted', async () => {
  const workspace = await newWorkspace();
  const set = newName('set');
  const sets = async () =>
    (await client.list(`/workspaces/${workspace.id}/varsets`)).map(({ attributes }) => attributes.name);
  const { name } = workspace.attributes;
  expect((await stepform('variable-sets', 'create', set)).out).toMatch(
    new RegExp(`^Created variable set ${set} \\(varset-\\w+\\)\\.\n$`),
  );
  const attached = `Variable set ${set} is used in ${name}.\n`;
  expect((await stepform('variable-sets', 'attach', set, '-w', name)).out).toBe(attached);
  expect(await sets()).toEqual([set]);
  const detached = `Variable set ${set} is no longer used in ${name}.\n`;
  expect((await stepform('variable-sets', 'detach', set, '-w', name)).out).toBe(detached);
  expect(await sets()).toEqual([]);
  await stepform('variables', 'set', 'region', 'eu', '--set', set);
  const changed = await stepform('variables', 'set', 'region', 'us', '--set', set);
  expect(changed.out).toBe(`Variable region changed in ${set}. New runs use it.\n`);
  const listed = await stepform('variables', 'list', '--set', set, '--output', 'csv');
  expect(listed.out).toBe('key,value,kind\nregion,us,terraform\n');
  expect(await stepform('variables', 'list', '--set', set, '-w', name)).toEqual({
    code: exit.usage,
    out: '',
    err: '✗ --set and --workspace cannot be combined. Give one of them.\n',
  });
  const env = await stepform('variables', 'delete', 'region', '--env', '--set', set);
  expect(env.err).toContain('Environment variable region not found');
  const deleted = `Variable region deleted from ${set}.\n`;
  expect((await stepform('variables', 'delete', 'region', '--set', set)).out).toBe(deleted);
  expect((await stepform('variables', 'delete', 'region', '--set', set)).err).toContain(`variables list --set ${set}`);
  expect((await stepform('variable-sets', 'delete', set, '--yes')).out).toBe(`Deleted variable set ${set}.\n`);
  expect((await stepform('variable-sets', 'delete', set, '--yes')).code).toBe(exit.notFound);
});

it('a team that may plan sees who confirms', async () => {
  const workspace = await newWorkspace();
  const run = await untilConfirmable(await startRun(workspace, { 'main.tf': resources(['a']) }));
  const team = await client.create(`/organizations/${organization}/teams`, 'teams', { name: newName('planners') });
  await giveAccess(team, workspace, 'plan');
  const { data } = await client.call('POST', `/teams/${team.id}/authentication-token`, {});
  const told = 'Waiting for confirmation by someone with apply permission.\n';
  expect((await stepformAs(data.attributes.token, 'runs', 'show', run.id)).out).toContain(told);
  expect(await stepformAs(data.attributes.token, 'runs', 'confirm', run.id)).toMatchObject({
    code: exit.notAllowed,
  });
  const { out } = await stepform('runs', 'show', run.id);
  expect(out).toContain(`stepform runs confirm ${run.id}\n`);
  expect(out).not.toContain(told);
});

it('a watch of several runs prefixes each line with its run, and ends with the failed ones', async () => {
  const [one, other] = await Promise.all([newWorkspace(), newWorkspace()]);
  const good = await startRun(one, { 'main.tf': resources(['a']) }, { 'auto-apply': true });
  const bad = await startRun(other, { 'main.tf': 'resource "terraform_data" "a" {' });
  const { out, code } = await stepform('runs', 'watch', good.id, bad.id);
  expect(out).toMatch(new RegExp(`${good.id}  Plan \\w+: \\+1 ~0 −0\n`));
  expect(out).toContain(`${good.id}  ended: Applied`);
  expect(out).toMatch(new RegExp(`${bad.id}  Plan failed\n(.*\n)*${bad.id}  ended: Plan Errored\n`));
  expect(code).toBe(exit.errored);
});

it('lists users and teams with a permission on a workspace, and the access of one user', async () => {
  const { name } = (await newWorkspace()).attributes;
  const [me] = await client.list(`/organizations/${organization}/organization-memberships?include=user`);
  const { email } = me?.attributes ?? {};
  const who = (await stepform('access', '--workspace', name, '--output', 'csv')).out.trim().split('\n');
  expect(who[0]).toBe('who,kind,where,through');
  expect(who).toContainEqual(expect.stringMatching(new RegExp(`,member,${name},owners$`)));
  expect(who).toContain(`owners,team,${name},owners`);
  const mine = await stepform('access', '--user', email, '--permission', 'state:read', '--output', 'csv');
  expect(mine.out).toContain(`,member,${organization},owners`);
  const here = await stepform('access', '-w', name, '--user', email, '--output', 'csv');
  expect(here.out.split('\n')).toEqual([who[0], expect.stringMatching(`,member,${name},owners$`), '']);
  expect(await stepform('access', '--user', 'missing@x.test')).toMatchObject({
    code: exit.notFound,
    err: expect.stringContaining('No member is named missing@x.test'),
  });
  expect(await stepform('access', '-w', name, '--permission', 'run:everything')).toMatchObject({
    code: exit.notNow,
    err: expect.stringContaining('filter[permission]'),
  });
});
