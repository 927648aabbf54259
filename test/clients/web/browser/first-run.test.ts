import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { genericHost } from '#platform/net/generic-host.ts';
import { newSharedFolder } from '#test/e2e/support/shared-folder.ts';
import { newName } from '#test/e2e/support/world.ts';
import { platform, seesStatus, visit } from './support/reader.ts';

/** From an empty organization to an apply by clicks alone, with real terraform. */

let folder: string;
const shared = newSharedFolder('first-run-');
/** The apply continues once this file exists. */
const go = () => join(shared, 'go');
beforeAll(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'stepform-folder-')), 'network');
  const { mkdir } = await import('node:fs/promises');
  await mkdir(folder);
  await writeFile(
    join(folder, 'main.tf'),
    `variable "region" {}
resource "terraform_data" "network" {
  input = var.region
  provisioner "local-exec" {
    command = "echo step 1; until [ -e ${go()} ]; do sleep 0.1; done; echo step 2"
  }
}
output "region" { value = terraform_data.network.output }
output "key" {
  value     = "very-secret"
  sensitive = true
}
`,
  );
  await writeFile(join(folder, 'terraform.tfstate'), 'never to be uploaded');
});
afterAll(() => Promise.all([join(folder, '..'), shared].map((path) => rm(path, { recursive: true, force: true }))));

it('a newcomer is led from an empty organization to outputs', async () => {
  const organization = newName('org');
  const page = await visit('/app/organizations/new');
  await page.getByLabel('Name').fill(organization);
  await page.getByLabel('E-mail').fill('owner@localhost');
  await page.getByRole('button', { name: 'Create organization' }).click();

  // The empty state shows the next step, with the host that terraform can reach.
  const block = page.getByLabel('cloud block');
  await block.getByText(`organization = "${organization}"`).waitFor();
  const { protocol, host } = new URL(platform.url);
  expect(await block.innerText()).toContain(`hostname     = "${protocol === 'http:' ? genericHost : host}"`);

  await page.getByRole('button', { name: 'New workspace' }).click();
  await page.getByLabel('Name').fill('network');
  await page.getByRole('button', { name: 'Create workspace' }).click();
  await page.getByRole('heading', { name: 'No runs yet' }).waitFor();

  await page.getByRole('link', { name: 'Variables' }).click();
  await page.getByRole('button', { name: 'Add variable' }).click();
  await page.getByLabel('Name').fill('region');
  await page.getByRole('textbox', { name: 'Value' }).fill('eu-central-1');
  await page.getByRole('dialog').getByRole('button', { name: 'Add variable' }).click();
  await page.getByRole('cell', { name: 'eu-central-1' }).waitFor();

  await page.getByRole('button', { name: 'Start new run' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('No configuration yet').waitFor();
  expect(await dialog.getByRole('button', { name: 'Start run' }).isDisabled()).toBe(true);
  await dialog.getByLabel('Configuration: folder').setInputFiles(folder);
  await dialog.getByText('main.tf will be uploaded').or(dialog.getByText('network will be uploaded')).waitFor();
  await dialog.getByLabel('Message').fill('First rollout');
  await dialog.getByRole('button', { name: 'Start run' }).click();

  await page.getByRole('heading', { name: 'First rollout' }).waitFor();
  await seesStatus(page, 'Needs Confirmation');
  // The plan by resource is open because it waits for a decision.
  await page.getByText('terraform_data.network').first().waitFor();
  await page.getByRole('cell', { name: '"eu-central-1"' }).first().waitFor();
  await page.getByLabel('Comment', { exact: true }).fill('Looks good to me');
  await page.getByRole('button', { name: 'Confirm & Apply' }).click();

  // Lines appear while the apply is still running.
  await page
    .getByLabel('Lines of the apply')
    .getByText(/: step 1$/)
    .waitFor({ timeout: 60_000 });
  await seesStatus(page, 'Applying');
  await writeFile(go(), '');
  await seesStatus(page, 'Applied');
  await page.getByText('Looks good to me').waitFor();
  expect(await page.getByRole('button', { name: 'Confirm & Apply' }).count()).toBe(0);

  const outputs = page.getByRole('table').filter({ hasText: 'region' });
  await outputs.getByText('eu-central-1').waitFor();
  expect(await outputs.innerText()).not.toContain('very-secret');
  await outputs.getByRole('button', { name: 'Show key' }).click();
  await outputs.getByText('very-secret').waitFor();

  await page.getByRole('link', { name: 'Compare with the previous state' }).click();
  await page.getByText('terraform_data.network').waitFor();
  await page.getByLabel('You are here').getByRole('link', { name: organization }).click();
  await page.getByText('All well').waitFor();
  await page.getByRole('navigation', { name: 'Organization' }).getByRole('link', { name: 'Workspaces' }).click();
  await page
    .getByRole('listitem')
    .filter({ hasText: /network.*1 resource.*Applied/s })
    .waitFor();
});
