import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { newName, resources, startRun, untilFinal } from '#test/e2e/support/world.ts';
import { client, organization, visit } from './support/reader.ts';

/** Queries over all workspaces, on the page. */

const folder = process.env.SCREENSHOTS;

/** Holds back the explorer's responses. @returns a function that releases them */
const lateAnswers = async (page: Page): Promise<() => Promise<void>> => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const questions = '**/explorer?*';
  await page.route(questions, async (route) => {
    await released;
    await route.continue();
  });
  return async () => {
    const answer = page.waitForResponse(questions);
    release();
    await answer;
  };
};

it('a query is filtered, sorted, saved as a view and exported', async () => {
  const common = newName('explored');
  const names = ['a', 'b', 'c'].map((letter) => `${common}-${letter}`);
  for (const name of names) await client.createWorkspace(organization, name, { 'terraform-version': 'latest' });
  const [first] = await client.list(`/organizations/${organization}/workspaces?search[name]=${common}-a`);
  if (!first) throw new Error('no workspace');
  await untilFinal(await startRun(first, { 'main.tf': resources(['x', 'y']) }, { 'auto-apply': true }));

  const page = await visit(`/app/${organization}/workspaces`);
  const answers = await lateAnswers(page);
  await page.getByRole('link', { name: 'Explorer' }).first().click();
  await page.getByRole('button', { name: 'Add filter' }).click();
  const filter = page.getByRole('group', { name: 'Filter 1' });
  await filter.getByLabel('Field').selectOption('Workspace name');
  await filter.getByLabel('Value').fill(common);
  // Typed text stays when the first response arrives.
  await answers();
  const table = page.getByRole('region', { name: 'Workspaces' });
  await table.waitFor();
  expect(await filter.getByLabel('Value').inputValue()).toBe(common);
  await filter.getByLabel('Value').press('Enter');
  await table.getByText('3 rows').waitFor();
  await table.getByRole('button', { name: 'Workspace' }).first().click();
  await table.getByRole('button', { name: 'Workspace' }).first().click();
  await expect.poll(() => table.getByRole('link').allInnerTexts()).toEqual(names.toReversed());
  await expect.poll(() => table.getByRole('row').filter({ hasText: names[0] }).innerText()).toContain('Applied');

  // A name of 90 characters leaves all columns on screen.
  await page.setViewportSize({ width: 1440, height: 900 });
  await client.createWorkspace(organization, `${common}-${'x'.repeat(89 - common.length)}`);
  await page.reload();
  await table.getByText('4 rows').waitFor();
  expect(await table.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
  await client.call('DELETE', `/organizations/${organization}/workspaces/${common}-${'x'.repeat(89 - common.length)}`);
  await page.reload();
  await table.getByText('3 rows').waitFor();

  await page.getByRole('button', { name: 'Save view' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill(common);
  await page.getByRole('dialog').getByRole('button', { name: 'Save view' }).click();
  await page.getByRole('button', { name: 'Delete view' }).waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export CSV' }).click(),
  ]);
  const csv = readFileSync((await download.path()) ?? '', 'utf8')
    .trim()
    .split('\r\n');
  expect([csv.length, csv[0]]).toEqual([4, expect.stringContaining('"workspace_name"')]);
  if (folder) await page.screenshot({ path: `${folder}/explorer.png` });

  await page.getByLabel('Show').selectOption('Resources');
  await page.getByRole('region', { name: 'Resources' }).waitFor();
  await page.getByLabel('Saved views').selectOption(common);
  await expect.poll(() => table.getByRole('link').allInnerTexts()).toEqual(names.toReversed());
  const phone = await visit(page.url(), { viewport: { width: 390, height: 844 } });
  await phone.getByText('3 rows').waitFor();
  if (folder) await phone.screenshot({ path: `${folder}/explorer-phone.png` });
  expect(await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  // Every column is visible, with its name, and the rows can be sorted.
  const onPhone = phone.getByRole('region', { name: 'Workspaces' });
  expect(await onPhone.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
  const cell = onPhone.locator('[data-label="Terraform"]').first();
  expect(await cell.evaluate((element) => getComputedStyle(element, '::before').content)).toBe('"Terraform"');
  await onPhone.getByRole('button', { name: 'Workspace' }).first().click();
  await expect.poll(() => onPhone.getByRole('link').allInnerTexts()).toEqual(names);
  await page.getByRole('button', { name: 'Delete view' }).click();
  await page.getByRole('button', { name: 'Save view' }).waitFor();
});
