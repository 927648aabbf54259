import { afterAll, beforeAll, expect, it } from 'vitest';
import { newName } from '../../e2e/support/world.ts';
import { type ForgeServer, startForge } from '../../version-control/support/forge-server.ts';
import { client, organization, visit } from './support/reader.ts';

/** Connecting a forge and a repository, and whose account is whose, against a server that answers as GitHub does. */

let forge: ForgeServer;
beforeAll(async () => {
  forge = await startForge();
  const repository = { id: 1, full_name: 'acme/network', default_branch: 'main', permissions: { admin: true } };
  const sha = 'a'.repeat(40);
  forge.on('GET', '/user/repos', { body: [repository, { ...repository, id: 2, full_name: 'acme/shop' }] });
  forge.on('GET', '/repos/acme/network', { body: repository });
  forge.on('GET', '/repos/acme/network/branches', { body: [{ name: 'main' }, { name: 'release' }] });
  forge.on('GET', /\/branches\/(main|release)$/, { body: { commit: { sha } } });
  forge.on('GET', /\/commits\//, { body: { sha, commit: { message: 'A commit' } } });
  forge.on('GET', /\/hooks$/, { body: [] });
  forge.on('POST', /\/hooks$/, { status: 201, body: { id: 5 } });
});
afterAll(() => forge.close());

const settings = `/app/${organization}/settings/version-control`;

it('connects a forge, a repository and its branch from lists, and shows how to link an account', async () => {
  const name = newName('hub');
  const page = await visit(settings);
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'New connection' }).click();
  await dialog.getByLabel('Provider').selectOption('github_enterprise');
  await dialog.getByLabel('Name', { exact: true }).fill(name);
  await dialog.getByLabel('URL', { exact: true }).fill(forge.url);
  await dialog.getByLabel('API URL').fill(forge.url);
  await dialog.getByLabel('Access token').fill('wrong');
  await dialog.getByRole('button', { name: 'Connect' }).click();
  await dialog.getByText('does not accept it').waitFor();
  await dialog.getByLabel('Access token').fill('good');
  await dialog.getByRole('button', { name: 'Connect' }).click();
  await dialog.waitFor({ state: 'detached' });
  const line = page.getByRole('list', { name: 'Connections' }).getByRole('listitem').filter({ hasText: name });

  await line.getByRole('button', { name: 'Your account' }).click();
  await dialog.getByLabel('User name').fill('octocat');
  await dialog.getByRole('button', { name: 'Get code' }).click();
  expect(await dialog.getByText(/^stepform link /).innerText()).toMatch(/^stepform link [\w-]{43}$/);
  await dialog.getByRole('button', { name: 'Close' }).click();

  const workspace = await client.createWorkspace(organization, newName());
  await page.goto(`/app/${organization}/workspaces/${workspace.attributes.name}/settings`);
  await page.getByLabel('Connection').selectOption({ label: name });
  const offered = (field: string) =>
    page
      .getByLabel(field, { exact: true })
      .evaluate((input) => [...((input as HTMLInputElement).list?.options ?? [])].map(({ value }) => value));
  await expect.poll(() => offered('Repository')).toEqual(['acme/network', 'acme/shop']);
  await page.getByLabel('Repository', { exact: true }).fill('acme/network');
  await expect.poll(() => offered('Branch')).toEqual(['main', 'release']);
  await page.getByLabel('Branch', { exact: true }).fill('release');
  await page.getByRole('button', { name: 'Connect repository' }).click();
  await page.getByText('Follows acme/network, branch release.').waitFor();
  await page.getByLabel('Apply pull requests before the merge').waitFor();
});
