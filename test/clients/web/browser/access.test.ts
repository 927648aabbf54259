import { expect, it } from 'vitest';
import { operate } from '#test/e2e/support/operator.ts';
import { newName, newWorkspace } from '#test/e2e/support/world.ts';
import { memberHelpers } from '#test/support/members.ts';
import { client, organization, platform, visit } from './support/reader.ts';

/** Members of an organization and permissions of teams are managed by clicks. */

const settings = `/app/${organization}/settings`;

it('an owner creates a team, adds members and access, and removes them', async () => {
  const workspace = await newWorkspace();
  const name = newName('team');
  const email = `${newName('mira')}@b.test`;
  const page = await visit(`${settings}/teams`);
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'New team' }).click();
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByRole('button', { name: 'Create team' }).click();
  await page.getByRole('heading', { name, exact: true }).waitFor();

  // Implied permissions are ticked as well.
  await page.getByLabel('Manage all workspaces').check();
  await page.getByRole('button', { name: 'Save access' }).click();
  await page.getByRole('checkbox', { name: 'See all workspaces', checked: true }).waitFor();

  await page.goto(`${settings}/members`);
  await page.getByRole('button', { name: 'Invite' }).click();
  await dialog.getByLabel('E-mail').fill(email);
  await dialog.getByLabel(name).check();
  await dialog.getByRole('button', { name: 'Invite' }).click();
  const line = page.getByRole('listitem').filter({ hasText: email });
  await line.getByText('invited').waitFor();
  await line.getByText(name).waitFor();

  await page.goto(`/app/${organization}/workspaces/${workspace.attributes.name}/settings`);
  await page.getByRole('button', { name: 'Add team access' }).click();
  await dialog.getByLabel('Team', { exact: true }).selectOption({ label: name });
  await dialog.getByLabel('Access', { exact: true }).selectOption('custom');
  await dialog.getByLabel('Runs').selectOption('apply');
  await dialog.getByLabel('Lock and unlock').check();
  await dialog.getByRole('button', { name: 'Add access' }).click();
  await page.getByRole('button', { name: `Change the access of ${name}` }).waitFor();
  const access = `/team-workspaces?filter[workspace][id]=${workspace.id}`;
  const [granted] = await client.list(access);
  expect(granted?.attributes).toMatchObject({ access: 'custom', runs: 'apply', 'workspace-locking': true });
  await page.getByRole('button', { name: `Remove the access of ${name}` }).click();
  await dialog.getByRole('button', { name: 'Remove access' }).click();
  await page.getByRole('link', { name, exact: true }).waitFor({ state: 'detached' });
  expect(await client.list(access)).toEqual([]);

  await page.goto(`${settings}/members`);
  await page.getByRole('button', { name: `Remove ${email}` }).click();
  await dialog.getByRole('button', { name: 'Remove member' }).click();
  await line.waitFor({ state: 'detached' });
});

it('users without a team see what to do', async () => {
  operate(platform);
  const { token } = await (await memberHelpers()).member(organization);
  const page = await visit(`/app/${organization}/workspaces`, { token });
  await page.getByText('No workspaces available').waitFor();
  expect(await page.getByRole('button', { name: 'New workspace' }).count()).toBe(0);
});

it('an owner gives a team access to a project’s workspaces', async () => {
  const name = newName('team');
  await client.create(`/organizations/${organization}/teams`, 'teams', { name });
  const page = await visit(`/app/${organization}/projects`);
  const dialog = page.getByRole('dialog');
  const project = newName('project');
  await page.getByRole('button', { name: 'New project' }).click();
  await dialog.getByLabel('Name').fill(project);
  await dialog.getByRole('button', { name: 'Create project' }).click();
  await page.getByRole('heading', { name: project }).waitFor();
  await page.getByRole('button', { name: 'Add team access' }).click();
  await dialog.getByLabel('Team', { exact: true }).selectOption({ label: name });
  await dialog.getByLabel('Access', { exact: true }).selectOption('maintain');
  await dialog.getByRole('button', { name: 'Add access' }).click();
  await page.getByRole('button', { name: `Change the access of ${name}` }).click();
  await dialog.getByLabel('Access', { exact: true }).selectOption('custom');
  await dialog.getByLabel('Create workspaces').check();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('custom', { exact: true }).waitFor();
  const [, id] = /(prj-\w+)/.exec(page.url()) ?? [];
  const [granted] = await client.list(`/team-projects?filter[project][id]=${id}`);
  expect(granted?.attributes).toMatchObject({ access: 'custom', 'workspace-access': { create: true, delete: true } });
});
