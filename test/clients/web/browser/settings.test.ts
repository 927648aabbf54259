import { readFile } from 'node:fs/promises';
import { beforeAll, expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { Client } from '#clients/client/client.ts';
import { operate } from '#test/e2e/support/operator.ts';
import { startServer } from '#test/e2e/support/run-tasks.ts';
import { giveAccess, newName, newWorkspace, resources } from '#test/e2e/support/world.ts';
import { newMember } from './support/operator.ts';
import { client, organization, platform, visit } from './support/reader.ts';

/** Settings of an organization: tokens, the audit trail, and concurrent edits by two users. */

const evil = '<img src=x onerror="window.hacked=1">';
const home = `/organizations/${organization}`;
const settings = `/app/${organization}/settings`;

const make = (collection: string, attributes: object) =>
  client.create(`${home}/${collection}`, collection, { name: newName('thing'), ...attributes });

beforeAll(() => operate(platform));

it('tokens of a team and of the organization are created, shown once, used, audited and revoked', async () => {
  const team = await make('teams', { visibility: 'organization' });
  const page = await visit(`${settings}/teams/${team.id}`);
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'New token' }).click();
  await dialog.getByLabel('Description').fill(evil);
  await dialog.getByLabel('Expiration').selectOption('90');
  await dialog.getByRole('button', { name: 'Create token' }).click();
  const secret = await page.getByLabel('new token', { exact: true }).innerText();
  expect(secret).toMatch(/^sfteam_/);
  const path = `/teams/${team.id}/authentication-tokens`;
  const [token] = await client.list(path);
  const days = (Date.parse(token?.attributes['expired-at']) - Date.now()) / 86_400_000;
  expect(Math.round(days)).toBe(90);

  const program = new Client(platform.url, secret);
  await expect(program.call('DELETE', `/teams/${team.id}`)).rejects.toThrow('403');
  await page.reload();
  await page.getByText(/last used /).waitFor();
  expect(await page.content()).not.toContain(secret);
  await page.getByRole('button', { name: 'Revoke' }).click();
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('such as your CI').waitFor();
  await expect(program.get(`/teams/${team.id}`)).rejects.toThrow('401');

  await page.goto(`${settings}/audit-trail`);
  const lines = page
    .getByRole('list', { name: 'Events' })
    .getByRole('listitem')
    .filter({ hasText: team.attributes.name });
  await lines.filter({ hasText: 'team: delete' }).getByText('refused').waitFor();
  await lines.filter({ hasText: 'team: created' }).getByRole('link', { name: team.attributes.name }).click();
  await page.getByRole('heading', { name: team.attributes.name }).waitFor();
  expect(await page.locator('img').count()).toBe(0);

  await page.goto(`${settings}/audit-trail`);
  await page.getByLabel('Outcome').selectOption('refused');
  await lines.filter({ hasText: 'team: delete' }).waitFor();
  await lines.filter({ hasText: 'team: created' }).waitFor({ state: 'detached' });
  // Other users see the same at this address.
  await page.reload();
  await lines.filter({ hasText: 'team: delete' }).waitFor();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export CSV' }).click();
  const exported = await readFile(await (await download).path(), 'utf8');
  expect(exported).toMatch(/^timestamp,actor,/);
  expect(exported).toContain(`,team,${team.id},${team.attributes.name},destroy,refused,`);
  expect(exported).not.toContain(',allowed,');

  await page.goto(`${settings}/general`);
  await page.getByRole('button', { name: 'Create: Audit trail token' }).click();
  await dialog.getByRole('button', { name: 'Create token' }).click();
  const first = await page.getByLabel('new token', { exact: true }).innerText();
  await page.getByRole('button', { name: 'Replace: Audit trail token' }).click();
  await dialog.getByText('The current token is revoked immediately').waitFor();
  await dialog.getByRole('button', { name: 'Create token' }).click();
  await dialog.waitFor({ state: 'detached' });
  const second = await page.getByLabel('new token', { exact: true }).innerText();
  const ask = (secret: string) =>
    new Client(platform.url, secret).call('GET', '/organization/audit-trail?page[size]=1');
  await expect(ask(first)).rejects.toThrow('401');
  await ask(second);
  await page.getByRole('button', { name: 'Revoke: Audit trail token' }).click();
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('button', { name: 'Create: Audit trail token' }).waitFor();
  await expect(ask(second)).rejects.toThrow('401');
});

it('a run that a team token started names the team', async () => {
  const [team, workspace] = [await make('teams', {}), await newWorkspace()];
  await giveAccess(team, workspace, 'write');
  const path = `/teams/${team.id}/authentication-tokens`;
  const { attributes } = await client.create(path, 'authentication-tokens', { description: 'CI' });
  const version = await client.upload(workspace.id, await packFiles({ 'main.tf': resources(['a']) }));
  // The run does not have to start.
  await client.call('POST', `/workspaces/${workspace.id}/actions/lock`, {});
  await new Client(platform.url, attributes.token).createRun(workspace.id, {}, version.id);
  const page = await visit(`/app/${organization}/workspaces/${workspace.attributes.name}/runs`);
  await page.getByRole('listitem').getByText(`by team ${team.attributes.name}`).waitFor();
});

it('the second of two users who edit a project, team or workspace is warned, and the first edit is kept', async () => {
  const project = await make('projects', { description: 'before' });
  const page = await visit(`/app/${organization}/projects/${project.id}`);
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Change', exact: true }).click();
  await dialog.getByLabel('Tags').fill('team = network\ncritical');
  await dialog.getByLabel('Execution').selectOption('local');
  await client.call('PATCH', `/projects/${project.id}`, { data: { attributes: { description: 'by another' } } });
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('changed this just now').waitFor();
  await dialog.getByRole('button', { name: 'Reload' }).click();
  await dialog.getByRole('alert').waitFor({ state: 'detached' });
  await expect.poll(() => dialog.getByLabel('Description').inputValue()).toBe('by another');
  await dialog.getByLabel('Tags').fill('team = network\ncritical');
  await dialog.getByLabel('Execution').selectOption('local');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('team: network').waitFor();
  await page.getByText('Execution mode: local').waitFor();
  expect((await client.get(`/projects/${project.id}`)).attributes).toMatchObject({
    description: 'by another',
    'default-execution-mode': 'local',
  });

  const team = await make('teams', {});
  await page.goto(`${settings}/teams/${team.id}`);
  await page.getByLabel('Manage policies').check();
  await client.call('PATCH', `/teams/${team.id}`, {
    data: { attributes: { 'organization-access': { 'manage-run-tasks': true } } },
  });
  await page.getByRole('button', { name: 'Save access' }).click();
  await page.getByRole('button', { name: 'Reload' }).click();
  await page.getByRole('checkbox', { name: 'Manage run tasks', checked: true }).waitFor();
  await page.getByLabel('Manage policies').check();
  await page.getByRole('button', { name: 'Save access' }).click();
  await page.getByText('Saved.').waitFor();
  const { 'organization-access': access } = (await client.get(`/teams/${team.id}`)).attributes;
  expect(access).toMatchObject({ 'manage-run-tasks': true, 'manage-policies': true });

  const pool = await make('agent-pools', {});
  const workspace = await make('workspaces', {});
  await page.goto(`/app/${organization}/workspaces/${workspace.attributes.name}/settings`);
  await page.getByLabel('Execution').selectOption('agent');
  await page.getByLabel('Agent pool').selectOption({ label: pool.attributes.name });
  await client.call('PATCH', `/workspaces/${workspace.id}`, { data: { attributes: { 'auto-apply': true } } });
  await page.getByRole('button', { name: 'Save settings' }).click();
  await page.getByRole('button', { name: 'Reload' }).click();
  await page.getByRole('checkbox', { name: 'Apply without confirmation', checked: true }).waitFor();
  await page.getByLabel('Execution').selectOption('agent');
  await page.getByLabel('Tags').fill('one\nteam: network');
  await page.getByRole('button', { name: 'Save settings' }).click();
  await page.getByText('Saved.').waitFor();
  const { attributes, relationships } = await client.get(`/workspaces/${workspace.id}`);
  const tags = [
    { key: 'one', value: '', plain: false },
    { key: 'team', value: 'network', plain: false },
  ];
  expect(attributes).toMatchObject({ 'execution-mode': 'agent', 'auto-apply': true, tags });
  expect(relationships?.['agent-pool']?.data).toEqual({ type: 'agent-pools', id: pool.id });
});

it('notifications of a workspace are created, verified, disabled and deleted, and responses are shown as text', async () => {
  const workspace = await make('workspaces', {});
  const server = await startServer();
  const answer = (code: number) => {
    server.answer = (_, response) => response.writeHead(code).end(evil);
  };
  const at = `/app/${organization}/workspaces/${workspace.attributes.name}/settings`;
  const page = await visit(at);
  const panel = page.getByRole('region', { name: 'Notifications' });
  const dialog = page.getByRole('dialog');
  await panel.getByText('No notifications yet').waitFor();
  await panel.getByRole('button', { name: 'New notification' }).click();
  await dialog.getByLabel('Destination').selectOption('generic');
  await dialog.getByLabel('Name').fill(evil);
  await dialog.getByLabel('URL').fill(server.url);
  await dialog.getByLabel('Token').fill('secret');
  await dialog.getByLabel('Applying').check();
  answer(500);
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByRole('alert').getByText('it answered 500').waitFor();
  answer(200);
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.waitFor({ state: 'detached' });
  await panel.getByText('needs attention, applying, errored').waitFor();

  await panel.getByRole('button', { name: 'Verify' }).click();
  await panel.getByRole('status').getByText('accepted the verification request').waitFor();
  answer(503);
  await panel.getByRole('button', { name: 'Verify' }).click();
  await panel.getByText('it answered 503').waitFor();
  await panel.getByText('failing').waitFor();
  await panel.getByText('Latest responses').click();
  await panel.locator('.mono', { hasText: 'onerror' }).first().waitFor();
  await panel.getByRole('button', { name: 'Disable' }).click();
  await panel.getByText(' disabled.').waitFor();

  await panel.getByRole('button', { name: 'Change' }).click();
  expect(await dialog.getByLabel('Token', { exact: true }).inputValue()).toBe('');
  await dialog.getByLabel('Name').fill('Quiet');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  await panel.getByRole('button', { name: 'Delete Quiet' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await panel.getByText('No notifications yet').waitFor();
  expect(await page.locator('img').count()).toBe(0);
});

it('users without permission see neither the audit trail nor tokens nor notifications', async () => {
  const page = await visit(`${settings}/general`, { token: await newMember(organization, 'read') });
  await page.getByText('Only owners can change').waitFor();
  expect(await page.getByRole('link', { name: 'Audit trail' }).count()).toBe(0);
  expect(await page.getByText('Organization tokens').count()).toBe(0);
  await page.goto(`${settings}/audit-trail`);
  await page.getByText('can read its audit trail').waitFor();
  const workspace = await make('workspaces', {});
  await page.goto(`/app/${organization}/workspaces/${workspace.attributes.name}/settings`);
  await page.getByText('Only admins').waitFor();
  expect(await page.getByText('Notifications').count()).toBe(0);
});

it('an organization is renamed, and its former name answers with the new one', async () => {
  const [former, next] = [newName('former'), newName('renamed')];
  await client.create('/organizations', 'organizations', { name: former, email: 'a@b.test' });
  const page = await visit(`/app/${former}/settings/general`);
  await page.getByRole('button', { name: 'Rename organization' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('cloud blocks').waitFor();
  await dialog.getByLabel('Name').fill(organization);
  await dialog.getByRole('button', { name: 'Rename organization' }).click();
  await dialog.getByText('has already been taken').waitFor();
  await dialog.getByLabel('Name').fill(next);
  await dialog.getByRole('button', { name: 'Rename organization' }).click();
  await page.waitForURL(`**/app/${next}/settings/general`);
  await page.getByRole('heading', { name: `Settings of ${next}` }).waitFor();
  await expect(client.get(`/organizations/${former}`)).rejects.toThrow(`${former} is now ${next}`);
});

it('a deleted workspace is recovered or permanently deleted', async () => {
  const kept = await make('workspaces', {});
  const gone = await make('workspaces', {});
  for (const { id } of [kept, gone]) await client.call('DELETE', `/workspaces/${id}`);
  const page = await visit(`${settings}/general`);
  const list = page.getByRole('list', { name: 'Deleted workspaces' });
  await list.getByRole('button', { name: `Recover ${kept.attributes.name}` }).click();
  await list.getByRole('button', { name: `Recover ${kept.attributes.name}` }).waitFor({ state: 'detached' });
  expect((await client.get(`/workspaces/${kept.id}`)).attributes.name).toBe(kept.attributes.name);
  await list.getByRole('button', { name: `Delete ${gone.attributes.name} permanently` }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(`Type ${gone.attributes.name} to confirm`).fill(gone.attributes.name);
  await dialog.getByRole('button', { name: 'Delete permanently' }).click();
  await list.getByRole('button', { name: `Recover ${gone.attributes.name}` }).waitFor({ state: 'detached' });
  await expect(
    client.call('PUT', `/recoverable-items/${gone.id.replace('ws-', 'ri-')}/actions/recover`),
  ).rejects.toThrow('404');
});

it('a provider set is created, changed and deleted', async () => {
  const project = await make('projects', {});
  const name = newName('providers');
  const page = await visit(`${settings}/general`);
  const dialog = page.getByRole('dialog');
  const list = page.getByRole('list', { name: 'Provider sets' });
  await page.getByRole('button', { name: 'New provider set' }).click();
  await dialog.getByLabel('Name', { exact: true }).fill(name);
  await dialog.getByLabel('Provider source').fill('hashicorp/aws');
  await dialog.getByLabel('Configuration').fill('resource "a" "b" {}');
  await dialog.getByRole('button', { name: 'Create provider set' }).click();
  await dialog.getByText('must be one provider block').waitFor();
  await dialog.getByLabel('Configuration').fill('provider "aws" {}');
  await dialog.getByLabel('Apply to all projects').uncheck();
  await dialog.getByLabel(project.attributes.name).check();
  await dialog.getByRole('button', { name: 'Create provider set' }).click();
  await list.getByText(`registry.terraform.io/hashicorp/aws, for 1 project`).waitFor();
  const [set] = (await client.list(`${home}/provider-sets`)).filter((one) => one.attributes.name === name);
  expect(set?.relationships?.projects?.data).toEqual([{ type: 'projects', id: project.id }]);
  await list.getByRole('button', { name: `Edit ${name}` }).click();
  await dialog.getByLabel('High priority').check();
  await dialog.getByRole('button', { name: 'Save provider set' }).click();
  await list.getByText('for 1 project, high priority').waitFor();
  await list.getByRole('button', { name: `Delete ${name}` }).click();
  await dialog.getByLabel(`Type ${name} to confirm`).fill(name);
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
  await list.getByRole('button', { name: `Edit ${name}` }).waitFor({ state: 'detached' });
});
