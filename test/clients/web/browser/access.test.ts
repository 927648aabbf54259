import { expect, it } from 'vitest';
import { related } from '#clients/client/client.ts';
import { operate } from '#test/e2e/support/operator.ts';
import { giveAccess, newName, newWorkspace } from '#test/e2e/support/world.ts';
import { memberHelpers } from '#test/support/members.ts';
import { wrongWith } from './support/accessibility.ts';
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

  const [created] = await client.list(`/organizations/${organization}/teams?filter[names]=${name}`);
  await client.create(
    `/organizations/${organization}/organization-memberships`,
    'organization-memberships',
    { email },
    { teams: { data: [{ type: 'teams', id: created?.id }] } },
  );
  await page.goto(`${settings}/members`);
  // Without sign-in through OpenID Connect, invited users could not join.
  await page.getByText('To invite users, set up sign-in').waitFor();
  expect(await page.getByRole('button', { name: 'Invite' }).count()).toBe(0);
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
  const team = await visit(`${settings}/teams/${granted && related(granted, 'team')}`);
  const places = team.getByRole('region', { name: 'Access to projects and workspaces' });
  await places.getByRole('link', { name: workspace.attributes.name }).waitFor();
  await page.getByRole('button', { name: `Remove the access of ${name}` }).click();
  await dialog.getByRole('button', { name: 'Remove access' }).click();
  await page.getByRole('button', { name: `Change the access of ${name}` }).waitFor({ state: 'detached' });
  expect(await client.list(access)).toEqual([]);
  // The team still manages all workspaces.
  const lines = page.getByRole('region', { name: 'Team access' }).getByRole('listitem');
  await lines.filter({ hasText: name }).getByText('From its access to the organization').waitFor();

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
  await page.goto(`${settings}/members`);
  await page.getByText('Ask an owner of the organization for it.').waitFor();
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

it('users with a permission are listed, and the access of a member', async () => {
  operate(platform);
  const helpers = await memberHelpers();
  const workspace = await newWorkspace();
  const { attributes } = workspace;
  const { team } = await helpers.withFlags(organization);
  await giveAccess(team, workspace, 'write');
  const page = await visit(`/app/${organization}/workspaces/${attributes.name}/settings`);
  await page.getByRole('button', { name: 'Users with access' }).click();
  const who = page.getByRole('list', { name: 'Users and teams' });
  await who.getByText('Tokens of this team').first().waitFor();
  const entry = who.getByRole('listitem').filter({ hasText: team.name });
  expect(await entry.count()).toBe(2);
  expect(await wrongWith(page, 'users with access')).toEqual([]);
  await page.getByLabel('Permission').selectOption('workspace:delete');
  await entry.first().waitFor({ state: 'detached' });

  await page.goto(`${settings}/members`);
  const member = page.getByRole('listitem').filter({ hasText: team.name });
  await member.getByRole('button', { name: /^Access/ }).click();
  const places = page.getByRole('list', { name: 'Access' });
  await places
    .getByRole('listitem')
    .filter({ hasText: attributes.name })
    .getByText('run: read, plan, comment, apply')
    .waitFor();
  expect(await wrongWith(page, 'access of a member')).toEqual([]);
});
