import { expect, it } from 'vitest';
import { Client } from '#clients/client/client.ts';
import { operate } from '#test/e2e/support/operator.ts';
import { newName } from '#test/e2e/support/world.ts';
import { memberHelpers } from '#test/support/members.ts';
import { client, organization, platform, visit } from './support/reader.ts';

/** IP allowlists by clicks, and the view of a member from another network. */

it('an IP allowlist is created, gets ranges, and is deleted', async () => {
  const name = newName('Office');
  const page = await visit(`/app/${organization}/overview`);
  await page.getByRole('link', { name: 'Access' }).click();
  await page.getByRole('link', { name: 'IP allowlists' }).click();
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'New IP allowlist' }).click();
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByLabel('Applies to').selectOption('Selected agent pools');
  await dialog.getByRole('button', { name: 'Create IP allowlist' }).click();
  await page.getByRole('heading', { name, exact: true }).waitFor();
  await page.getByText('Not enforced').waitFor();

  await page.getByRole('button', { name: 'Add range' }).click();
  // The user's own address, as the platform sees it.
  await dialog.getByText(/127\.0\.0\.1\/32|::1\/128/).waitFor();
  await dialog.getByLabel('Range').fill('203.0.113.7');
  await dialog.getByRole('button', { name: 'Add range' }).click();
  await dialog.getByRole('alert').getByText('203.0.113.7/32').first().waitFor();
  await dialog.getByLabel('Range').fill('203.0.113.0/24');
  await dialog.getByRole('button', { name: 'Add range' }).click();
  await page.getByRole('button', { name: 'Disable 203.0.113.0/24' }).click();
  await page.getByText('Not enforced').waitFor();
  await page.getByRole('button', { name: 'Enable 203.0.113.0/24' }).click();
  await page.getByText('Not enforced').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Remove 203.0.113.0/24' }).click();
  await dialog.getByRole('button', { name: 'Remove range' }).click();
  await page.getByText('Not enforced').waitFor();

  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await dialog.getByRole('button', { name: 'Delete IP allowlist' }).click();
  await page.getByRole('button', { name: 'New IP allowlist' }).waitFor();
  const lists = await client.list(`/organizations/${organization}/cidr-range-lists`);
  expect(lists.map(({ attributes }) => attributes.name)).not.toContain(name);
});

it('a member from another network sees why nothing is shown', async () => {
  operate(platform);
  const own = new Client(platform.url, platform.token);
  const closed = newName('closed');
  await own.create('/organizations', 'organizations', { name: closed, email: 'a@b.test' });
  const { token } = await (await memberHelpers()).member(closed);
  const path = `/organizations/${closed}/cidr-range-lists`;
  const list = await own.create(path, 'cidr-range-lists', { name: 'l', 'enforcement-scope': 'organization' });
  const range = { range: '203.0.113.0/24' };
  await own.create(`/cidr-range-lists/${list.id}/relationships/cidr-ranges`, 'cidr-ranges', range);
  const page = await visit('/', { token });
  await page
    .getByText(/is not in the IP allowlist of organization closed/)
    .first()
    .waitFor();
  await page.goto(`/app/${closed}/workspaces`);
  await page
    .getByText(/is not in the IP allowlist of organization closed/)
    .first()
    .waitFor();
});
