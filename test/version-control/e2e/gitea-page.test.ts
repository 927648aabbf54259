import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { wrongWith } from '#test/clients/web/browser/support/accessibility.ts';
import { findBrowser } from '#test/clients/web/browser/support/find-browser.ts';
import { afterTest, closeBrowser, openBrowserOf, seesStatus, visit } from '#test/clients/web/browser/support/reader.ts';
import { client, newName, type Resource, resources, untilConfirmable } from '#test/e2e/support/world.ts';
import { giteaBinary } from '../gitea/binary.ts';
import { Gitea } from '../gitea/gitea.ts';

/** A user connects a real Gitea on the page, and follows the runs of commits. */

const binary = giteaBinary();
const browser = binary ? await findBrowser(() => {}).catch(() => undefined) : undefined;

/** An organization of its own, because the page lists the latest deliveries only. */
const organization = newName('page');

let gitea: Gitea;
beforeAll(async () => {
  if (!browser) return;
  await client.create('/organizations', 'organizations', { name: organization, email: 'owner@localhost' });
  gitea = await Gitea.start();
  await openBrowserOf(browser);
});
afterEach(afterTest);
afterAll(async () => {
  await closeBrowser();
  await gitea?.stop();
});

const settings = `/app/${organization}/settings/version-control`;

/** Connects with the keyboard only. */
const connect = async (page: Page, name: string, token: string): Promise<void> => {
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'New connection' }).focus();
  await page.keyboard.press('Enter');
  await dialog.getByLabel('Provider').focus();
  await page.keyboard.type('Gitea');
  for (const text of [name, gitea.url, '', '']) {
    await page.keyboard.press('Tab');
    await page.keyboard.type(text);
  }
  await page.keyboard.press('Tab');
  await page.keyboard.type(token);
  expect(await wrongWith(page, 'new connection')).toEqual([]);
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
};

/** Chooses the repository and its branch from lists loaded from Gitea. */
const follow = async (page: Page, { attributes }: Resource, connection: string, identifier: string): Promise<void> => {
  await page.goto(`/app/${organization}/workspaces/${attributes.name}/settings`);
  await page.getByLabel('Connection').selectOption({ label: connection });
  const offered = (field: string) =>
    page
      .getByLabel(field, { exact: true })
      .evaluate((input) => [...((input as HTMLInputElement).list?.options ?? [])].map(({ value }) => value));
  await expect.poll(() => offered('Repository')).toContain(identifier);
  await page.getByLabel('Repository', { exact: true }).fill(identifier);
  await expect.poll(() => offered('Branch')).toEqual(['main']);
  await page.getByLabel('Branch', { exact: true }).fill('main');
  await page.getByRole('button', { name: 'Connect repository' }).click();
  await page.getByText(`Follows ${identifier}, branch main.`).waitFor();
};

/** Target URL of the commit's status. */
const targetOf = async (identifier: string, sha: string, words: string): Promise<string> => {
  const newest = async () => (await gitea.statuses(identifier, sha))[0];
  await expect.poll(async () => (await newest())?.description).toBe(words);
  return new URL((await newest())?.target ?? '').pathname;
};

it.skipIf(!browser)('the page leads from a connection to first runs, runs of a commit and deliveries', async () => {
  const [name, token] = [newName('tea'), newName('token')];
  const identifier = await gitea.repository(newName('network'), { 'main.tf': resources(['a']) });
  const page = await visit(settings);
  await connect(page, name, await gitea.newToken(token));
  const workspace = await client.createWorkspace(organization, newName());
  await follow(page, workspace, name, identifier);
  await page.getByText('Start the first run').waitFor();
  await page.getByText('Begin').waitFor();

  await page.getByRole('button', { name: 'Start new run' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Start run' }).click();
  await seesStatus(page, 'Needs Confirmation');
  const [first] = await client.list(`/workspaces/${workspace.id}/runs`);
  const commits = `${gitea.url}/${identifier}/commit/`;
  await expect.poll(() => page.locator(`a[href^="${commits}"]`).count()).toBe(1);
  expect(await wrongWith(page, 'first run of a commit')).toEqual([]);
  await client.act(first?.id ?? '', 'discard');

  const repo = {
    identifier,
    'oauth-token-id': (await client.get(`/workspaces/${workspace.id}`)).attributes['vcs-repo']['oauth-token-id'],
  };
  const other = await client.createWorkspace(organization, newName(), { 'queue-all-runs': true, 'vcs-repo': repo });
  await expect.poll(async () => (await client.list(`/workspaces/${other.id}/runs`)).length).toBe(1);
  const [begun] = await client.list(`/workspaces/${other.id}/runs`);
  await untilConfirmable(begun as Resource);
  await client.act(begun?.id ?? '', 'discard');
  const sha = await gitea.push(identifier, { 'main.tf': resources(['a', 'b']) }, 'Add b');
  await page.goto(await targetOf(identifier, sha, '2 workspaces: 2 planned'));
  await page.getByRole('heading', { name: 'Add b' }).waitFor();
  const waiting = page.getByRole('list', { name: 'Needs attention' }).getByRole('listitem');
  await expect.poll(() => waiting.count()).toBe(2);
  await waiting
    .filter({ hasText: String(other.attributes.name) })
    .getByRole('link')
    .focus();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Discard' }).waitFor();
  expect(page.url()).toContain(`/workspaces/${other.attributes.name}/runs/`);

  await page.goto(settings);
  const deliveries = page.getByRole('list', { name: 'Latest deliveries' }).getByRole('listitem');
  const ours = deliveries.filter({ hasText: identifier });
  const delivery = ours.filter({ hasText: `Queued 2 runs for main ${sha.slice(0, 7)}` });
  await delivery.getByRole('button', { name: 'Deliver again' }).click();
  await page.getByText('Delivered again').waitFor();
  await ours.filter({ hasText: 'duplicate commit' }).first().waitFor();

  await gitea.revokeToken(token);
  await client.call('POST', `/workspaces/${workspace.id}/actions/fetch-latest-from-vcs`, {});
  await ours.filter({ hasText: 'refused the token' }).first().waitFor();
  await page.reload();
  const line = page.getByRole('list', { name: 'Connections' }).getByRole('listitem').filter({ hasText: name });
  await line.getByText('Gitea no longer accepts the token').waitFor();
  expect(await wrongWith(page, 'broken connection')).toEqual([]);
  await line.getByRole('button', { name: 'Replace token' }).click();
  await page
    .getByRole('dialog')
    .getByLabel('Access token')
    .fill(await gitea.newToken(newName('token')));
  await page.getByRole('dialog').getByRole('button', { name: 'Replace token' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await line.getByText('no longer accepts').waitFor({ state: 'detached' });
  const next = await gitea.push(identifier, { 'main.tf': resources(['a']) }, 'Remove b');
  await ours.filter({ hasText: `Queued 2 runs for main ${next.slice(0, 7)}` }).waitFor();
});
