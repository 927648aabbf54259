import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newSharedFolder } from '#test/e2e/support/shared-folder.ts';
import { newWorkspace, type Resource, resources, startRun, untilFinal } from '#test/e2e/support/world.ts';
import { organization, runPath, seesStatus, visit } from './support/reader.ts';

/** An apply as a chart: resources in progress, their duration, and what they waited for. */

const folder = newSharedFolder('gantt-');
afterAll(() => rmSync(folder, { recursive: true, force: true }));
/** The second resource is created until this file exists. */
const go = join(folder, 'go');
const pair = `resource "terraform_data" "network" {
  provisioner "local-exec" {
    command = "sleep 1"
  }
}
resource "terraform_data" "database" {
  input = terraform_data.network.id
  provisioner "local-exec" {
    command = "echo hello; until [ -e ${go} ]; do sleep 0.1; done"
  }
}`;

let workspace: Resource;
beforeAll(async () => {
  workspace = await newWorkspace();
});

it('an apply is drawn while it runs; a bar links to its line, and the slowest show what they waited for', async () => {
  const run = await startRun(workspace, { 'main.tf': pair }, { 'auto-apply': true });
  const page = await visit(runPath(workspace.attributes.name, run.id));
  const picture = page.getByRole('region', { name: 'Resources of the apply over time' });
  await picture.getByRole('link', { name: /terraform_data.network created/ }).waitFor({ timeout: 60_000 });
  await picture.getByRole('link', { name: /terraform_data.database creating/ }).waitFor();
  writeFileSync(go, '');
  await untilFinal(run);
  await seesStatus(page, 'Applied');
  await page.getByRole('heading', { name: 'Apply' }).click();
  await picture.getByRole('link', { name: /terraform_data.database created/ }).click();
  const aimed = page.locator('.line.aimed');
  await aimed.getByText('terraform_data.database: Creating...').waitFor();
  expect(new URL(page.url()).hash).toMatch(/^#apply-\d+$/);
  await picture.getByRole('button', { name: 'Slowest' }).click();
  await picture.getByRole('row', { name: /terraform_data.database .* terraform_data.network until/ }).waitFor();
  // The output is the same as in a terminal, and can show the time of each line.
  const lines = page.getByLabel('Lines of the apply');
  await lines.getByText('terraform_data.database (local-exec): hello').waitFor();
  expect(await lines.getByText('Plan to create').count()).toBe(0);
  expect(await lines.locator('time').count()).toBe(0);
  await page.getByRole('button', { name: 'Times' }).click();
  expect(await aimed.locator('time').innerText()).toMatch(/^\d\d:\d\d:\d\d$/);
});

// It destroys what the test before has created.
it('a plan started on the page is drawn too, with its changes and lines, whose address opens them', async () => {
  const page = await visit(`/app/${organization}/workspaces/${workspace.attributes.name}`);
  await page.getByRole('button', { name: 'Start new run' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('radio', { name: 'Destroy' }).check();
  await dialog.getByRole('button', { name: 'Start run' }).click();
  await seesStatus(page, 'Needs Confirmation');
  await page.getByText('terraform_data.network').first().waitFor();
  // Shows the version that planned, although the workspace is set to `latest`.
  await page
    .getByLabel('About this run')
    .getByText(/^\d+\.\d+\.\d+ \(latest\)$/)
    .waitFor();
  await page.getByRole('button', { name: 'Output', exact: true }).click();
  const picture = page.getByRole('region', { name: 'Resources of the plan over time' });
  await picture.getByRole('link', { name: /terraform_data.network refreshed/ }).click();
  await page.locator('.line.aimed').getByText('terraform_data.network: Refreshing state').waitFor();
  await page.getByLabel('Lines of the plan').getByText('Plan: 0 to add, 0 to change, 2 to destroy').waitFor();

  // Also after the panel was closed.
  const line = page.locator('.line.aimed', { hasText: 'on linux' });
  const go = () =>
    page.evaluate(() => {
      location.hash = '';
      location.hash = '#plan-2';
    });
  await go();
  await line.waitFor();
  await page.getByRole('button', { name: 'Changes', exact: true }).click();
  await page.getByRole('heading', { name: 'Plan', exact: true }).click();
  await line.waitFor({ state: 'detached' });
  await go();
  await line.waitFor();
});

it('a workspace without structured output shows text without a chart', async () => {
  const workspace = await newWorkspace({ 'structured-run-output-enabled': false });
  const run = await startRun(workspace, { 'main.tf': resources(['a', 'b']) }, { 'plan-only': true });
  await untilFinal(run);
  const page = await visit(`${runPath(workspace.attributes.name, run.id)}#plan-1`);
  await page.getByLabel('Lines of the plan').getByText('Plan: 2 to add').waitFor();
  expect(await page.locator('.gantt').count()).toBe(0);
});
