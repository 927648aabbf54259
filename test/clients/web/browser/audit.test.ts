import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { Client, type Resource } from '#clients/client/client.ts';
import { operate } from '#test/e2e/support/operator.ts';
import { newName, newWorkspace, resources, startRun, untilFinal } from '#test/e2e/support/world.ts';
import { wrongWith } from './support/accessibility.ts';
import { newMember } from './support/operator.ts';
import { client, organization, platform, visit } from './support/reader.ts';

/** The outcome filter is covered by settings.test.ts; this file covers users, actions and resources. */

it('the audit trail is filtered by user, resource and workspace, and the result is exported', async () => {
  operate(platform);
  const names = [newName('audit'), newName('audit')];
  const [one, other] = (await Promise.all(names.map((name) => client.createWorkspace(organization, name)))) as [
    Resource,
    Resource,
  ];
  for (const { id } of [one, other]) await client.setVariable(id, { key: 'k', value: 'v' });
  const member = new Client(platform.url, await newMember(organization, 'write'));
  const { username } = (await member.get('/account/details')).attributes;
  await member.setVariable(one.id, { key: 'by-member', value: 'v' });
  const page = await visit(`/app/${organization}/settings/audit-trail`);
  const lines = page.getByRole('list', { name: 'Events' }).getByRole('listitem');
  await page.getByLabel('Workspace', { exact: true }).selectOption(names[0] as string);
  await lines.filter({ hasText: names[1] }).first().waitFor({ state: 'detached' });
  await page.getByLabel('What', { exact: true }).selectOption('workspace');
  await expect
    .poll(async () => (await lines.allInnerTexts()).every((text) => text.startsWith('workspace:')))
    .toBe(true);
  await page.getByLabel('What', { exact: true }).selectOption('');
  await page.getByLabel('Who', { exact: true }).selectOption({ label: username });
  // The former filters may have left one line too.
  await expect.poll(() => lines.allInnerTexts()).toEqual([expect.stringContaining(username)]);
  await page.getByLabel('Who', { exact: true }).selectOption('');
  await page.getByLabel('Action', { exact: true }).selectOption({ label: 'deleted' });
  await page.getByText('No events match the filters in this period.').waitFor();
  await page.getByLabel('Action', { exact: true }).selectOption({ label: 'created' });
  await expect.poll(() => lines.count()).toBe(3);
  expect(page.url()).toContain('action=create');
  // The server filters, so that other users see the same at this address.
  await page.reload();
  await expect.poll(() => lines.count()).toBe(3);
  await lines.filter({ hasText: 'by-member' }).getByText('Node.js program').waitFor();
  await page.getByLabel('Who', { exact: true }).selectOption({ label: username });
  await expect.poll(() => lines.count()).toBe(1);
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export CSV' }).click();
  const file = await download;
  expect(file.suggestedFilename()).toMatch(/\.csv$/);
  const [head, ...rows] = (await readFile(await file.path(), 'utf8')).trim().split(/\r?\n/);
  expect(head).toMatch(/^timestamp,actor,/);
  expect(rows).toHaveLength(1);
  expect(rows[0]).toContain(one.id);
  await lines.getByRole('link', { name: 'by-member' }).click();
  await page.getByRole('rowheader', { name: 'by-member' }).waitFor();
});

it('the audit trail lists each action once, with the name of the resource', async () => {
  const workspace = await newWorkspace();
  // The run does not have to start.
  await client.call('POST', `/workspaces/${workspace.id}/actions/lock`, {});
  const run = await startRun(workspace, { 'main.tf': resources(['a']) }, { message: 'Never mind' });
  await client.act(run.id, 'discard');
  await untilFinal(run);
  const page = await visit(`/app/${organization}/settings/audit-trail?workspace=${workspace.id}&type=run`);
  const lines = page.getByRole('list', { name: 'Events' }).getByRole('listitem');
  await expect
    .poll(async () => (await lines.locator('.title').allInnerTexts()).map((text) => text.trim()))
    .toEqual(['run: discard', 'run: created']);
  await lines.first().getByRole('link', { name: 'Never mind' }).click();
  await page.getByRole('heading', { name: 'Never mind' }).waitFor();
});

it('the export to an endpoint is set up, replaced and ended', async () => {
  const name = newName('audited');
  await client.create('/organizations', 'organizations', { name, email: 'a@b.test' });
  const page = await visit(`/app/${name}/settings/audit-trail`);
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Continuous export' }).click();
  await dialog.getByLabel('URL').fill('https://logs.test/in');
  await dialog.getByLabel('Header', { exact: true }).fill('Host');
  await dialog.getByLabel('Value of the header').fill('Splunk secret');
  await dialog.getByRole('button', { name: 'Start export' }).click();
  await dialog.getByText('choose a header for credentials').waitFor();
  await dialog.getByLabel('Header', { exact: true }).fill('Authorization');
  expect(await wrongWith(page, 'audit export')).toEqual([]);
  await dialog.getByRole('button', { name: 'Start export' }).click();
  await page.getByRole('button', { name: 'End export' }).waitFor();
  const path = `/organizations/${name}/audit-export`;
  const { attributes } = await client.get(path);
  expect(attributes).toMatchObject({ url: 'https://logs.test/in', 'header-names': ['Authorization'], sequence: 0 });
  await page.getByRole('button', { name: 'Continuous export' }).click();
  await dialog.getByText('not yet').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'End export' }).click();
  await dialog.getByRole('button', { name: 'End export' }).click();
  await page.getByRole('button', { name: 'End export' }).waitFor({ state: 'detached' });
  await expect(client.get(path)).rejects.toMatchObject({ status: 404 });
});
