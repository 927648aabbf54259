import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { operate } from '#test/e2e/support/operator.ts';
import { newName, untilFinal } from '#test/e2e/support/world.ts';
import { wrongWith } from './support/accessibility.ts';
import { newMember } from './support/operator.ts';
import { client, organization, platform, seesStatus, visit } from './support/reader.ts';
import { picture } from './support/views.ts';

/**
 * The private registry on the page: from a folder to a published module, its tests, and a workspace created from it.
 */

const main = (text: string) => `variable "size" {
  type        = string
  description = "How large it is"
}
variable "labels" {
  type    = map(string)
  default = {}
}
variable "password" {
  type      = string
  sensitive = true
  default   = ""
}
resource "terraform_data" "a" {
  input = "\${var.size} ${text} \${join(",", keys(var.labels))}"
}
output "shown" {
  description = "What came of it"
  value       = terraform_data.a.output
}
`;

const tests = `variables {
  size = "small"
}
run "is_as_large_as_it_should_be" {
  assert {
    condition     = startswith(output.shown, var.size)
    error_message = "not \${var.size}"
  }
}
run "is_never_huge" {
  assert {
    condition     = output.shown == "huge"
    error_message = "as expected, this one fails"
  }
}
`;

const folderOf = (text: string): string => {
  const folder = mkdtempSync(join(tmpdir(), 'published-'));
  mkdirSync(join(folder, 'tests'));
  writeFileSync(join(folder, 'main.tf'), main(text));
  writeFileSync(join(folder, 'README.md'), '# Boxes\n\nMakes **boxes** of any size.\n');
  writeFileSync(join(folder, 'tests/boxes.tftest.hcl'), tests);
  return folder;
};

const name = newName('boxes');
const at = `/app/${organization}/registry/modules/private/${organization}/${name}/aws`;

const tab = (page: Page, text: string) =>
  page.getByRole('navigation', { name: 'Module' }).getByRole('link', { name: text }).click();

it('a module is published from a folder, documented, deprecated and published again', async () => {
  const page = await visit(`/app/${organization}/overview`);
  await page.getByRole('link', { name: 'Registry', exact: true }).click();
  await page.getByRole('button', { name: 'Publish module' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByLabel('Provider').fill('aws');
  await dialog.getByLabel('Files: folder').setInputFiles(folderOf('first'));
  await dialog.getByRole('button', { name: 'Publish' }).click();
  await page.getByText('Makes boxes of any size.').waitFor();
  expect(new URL(page.url()).pathname).toBe(at);
  const size = page.getByRole('region', { name: 'Inputs' }).getByRole('row', { name: /size/ });
  await expect.poll(() => size.innerText()).toMatch(/How large it is[\s\S]*string[\s\S]*required/);
  await page.getByRole('region', { name: 'Outputs' }).getByText('What came of it').waitFor();
  await expect
    .poll(() => page.getByLabel('Configuration').innerText())
    .toMatch(
      new RegExp(`source  = "localterraform.com/${organization}/${name}/aws"\\s+version = "1.0.0"[\\s\\S]*size    = …`),
    );

  await tab(page, 'Versions');
  await page.getByRole('button', { name: 'Publish version' }).click();
  await dialog.getByLabel('Version').fill('1.1.0');
  await dialog.getByLabel('Files: folder').setInputFiles(folderOf('second'));
  await dialog.getByRole('button', { name: 'Publish' }).click();
  const versions = page.getByRole('list', { name: 'Versions' });
  await versions.getByText('1.1.0').waitFor();
  await expect.poll(() => versions.locator('.title').allInnerTexts()).toEqual(['1.1.0', '1.0.0']);
  await page.getByRole('button', { name: 'Deprecate 1.0.0' }).click();
  await dialog.getByLabel('Reason').fill('use 1.1.0');
  await dialog.getByRole('button', { name: 'Deprecate' }).click();
  await versions.getByText('use 1.1.0').waitFor();
  await page.goto(`${at}?version=1.0.0`);
  await page.getByText('Version 1.0.0 is deprecated.').waitFor();
  await page.getByRole('combobox', { name: 'Version' }).selectOption('1.1.0');
  await page.getByText('Version 1.0.0 is deprecated.').waitFor({ state: 'detached' });
});

it('an invalid module is rejected, without a trace', async () => {
  const page = await visit(`/app/${organization}/registry/modules`);
  await page.getByRole('button', { name: 'Publish module' }).click();
  const dialog = page.getByRole('dialog');
  const wrong = newName('wrong');
  await dialog.getByLabel('Name').fill(wrong);
  await dialog.getByLabel('Provider').fill('aws');
  const folder = mkdtempSync(join(tmpdir(), 'wrong-'));
  mkdirSync(join(folder, 'deeper'));
  writeFileSync(join(folder, 'deeper/main.tf'), main(''));
  await dialog.getByLabel('Files: folder').setInputFiles(folder);
  await dialog.getByRole('button', { name: 'Publish' }).click();
  await dialog.getByText('There is no Terraform configuration at the root').waitFor();
  const all = await client.list(`/organizations/${organization}/registry-modules?q=${wrong}`);
  expect(all).toEqual([]);
});

it('tests of a module are enabled and run with variables, and show results', async () => {
  const page = await visit(`${at}/test-runs`);
  await page.getByRole('button', { name: 'Enable remote tests' }).click();
  await page.getByRole('button', { name: 'Add variable' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('TF_VAR_password');
  await dialog.getByLabel('Value').fill('very secret');
  await dialog.getByLabel('Sensitive').check();
  await dialog.getByRole('button', { name: 'Add variable' }).click();
  await page.getByRole('row', { name: /TF_VAR_password/ }).waitFor();

  await page.getByRole('button', { name: 'Run tests' }).click();
  await dialog.getByLabel('Variables').fill('size: large');
  await dialog.getByRole('button', { name: 'Run tests' }).click();
  await dialog.getByText(/line 1/).waitFor();
  await dialog.getByLabel('Variables').fill('size = "large"');
  await dialog.getByRole('button', { name: 'Run tests' }).click();
  await page.getByRole('heading', { name: 'Tests of 1.1.0' }).waitFor();
  await seesStatus(page, 'failed');
  await page.getByText('1 passed, 1 failed').first().waitFor();
  const lines = page.getByLabel('Lines of the tests');
  await lines.getByText('as expected, this one fails').waitFor();
  await page.getByText('size = "large"').waitFor();
  expect(await wrongWith(page, 'test run')).toEqual([]);

  await page.getByRole('link', { name: name, exact: true }).click();
  const row = page.getByRole('list', { name: 'Test runs' }).getByRole('listitem');
  // Lists render lines when they become visible.
  await expect.poll(() => row.innerText()).toMatch(/Tests of 1\.1\.0[\s\S]*1 passed, 1 failed[\s\S]*failed/);
  expect(await wrongWith(page, 'module tests')).toEqual([]);
  // The tests destroyed the resources that they created.
  await page.getByRole('link', { name: /Tests of 1.1.0/ }).click();
  await page.getByText('1 passed, 1 failed').first().waitFor();
  expect(await page.getByText('created and not destroyed').count()).toBe(0);
});

it('a workspace is created from a module with a form, and its first run applied', async () => {
  const page = await visit(`${at}/no-code`);
  await page.getByRole('group', { name: 'Allowed values' }).getByLabel('size').fill('small\nlarge, with lid');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('link', { name: 'New workspace' }).click();
  const workspace = newName('boxed');
  await page.getByLabel('Name', { exact: true }).fill(workspace);
  await page.getByLabel('size (required)').selectOption('large, with lid');
  await page.getByLabel('labels').fill('{ team = "core" }');
  await page.getByLabel('password').fill('very secret');
  expect(await page.getByLabel('password').getAttribute('type')).toBe('password');
  await page.getByLabel('Apply without confirmation').check();
  await page.getByRole('button', { name: 'Create workspace' }).click();
  await page.getByText('Created from version 1.1.0 of its module').first().waitFor();
  const [made] = await client.list(`/organizations/${organization}/workspaces?search[name]=${workspace}`);
  const [run] = await client.list(`/workspaces/${made?.id}/runs`);
  if (!run) throw new Error('no run');
  expect((await untilFinal(run)).attributes.status).toBe('applied');
  const variables = await client.list(`/workspaces/${made?.id}/vars`);
  expect(variables.map(({ attributes: { key, value, hcl, sensitive } }) => [key, value, hcl, sensitive])).toEqual(
    expect.arrayContaining([
      ['size', 'large, with lid', false, false],
      ['labels', '{ team = "core" }', true, false],
      ['password', null, false, true],
    ]),
  );
  await page.getByText('large, with lid second team').waitFor();
  await upgrades(page, workspace, made?.id ?? '');
});

/** Publishes another version, which needs one more value. */
const publishNext = async (): Promise<void> => {
  const path = `/organizations/${organization}/registry-modules/private/${organization}/${name}/aws`;
  const created = await client.create(`${path}/versions`, 'registry-module-versions', { version: '2.0.0' });
  const next = `${main('third')}variable "owner" {\n  type = string\n}\n`;
  const body = new Uint8Array(await packFiles({ 'main.tf': next, 'README.md': 'Makes boxes of any size.\n' }));
  expect((await fetch(String(created.links?.upload), { method: 'PUT', body })).ok).toBe(true);
  await expect
    .poll(async () => (await client.get(`${path}/version?module_version=2.0.0`)).attributes.status)
    .toBe('ok');
};

/** The workspace is offered the next version, and shows its plan; test/e2e/cli/no-code.test.ts confirms such a run. */
const upgrades = async (page: Page, workspace: string, id: string): Promise<void> => {
  const overview = page.url();
  const module = page.getByRole('region', { name: 'Module', exact: true });
  await module.getByText('1.1.0').waitFor();
  expect(await module.getByRole('button').count()).toBe(0);
  await publishNext();
  await page.reload();
  await module.getByText('newer version').waitFor();
  await module.getByRole('button', { name: 'Upgrade' }).click();
  const dialog = page.getByRole('dialog', { name: `Upgrade ${workspace}` });
  await dialog.getByText('2.0.0').waitFor();
  // The workspace has values for the other variables.
  expect(await dialog.getByRole('textbox').count()).toBe(1);
  await dialog.getByLabel('owner (required)').fill('core');
  if (process.env.SCREENSHOTS) await picture(page, process.env.SCREENSHOTS, 'module-upgrade');
  await dialog.getByRole('button', { name: 'Plan upgrade' }).click();
  await page.getByRole('heading', { name: 'Upgrade of the module to version 2.0.0' }).waitFor();
  await seesStatus(page, 'Needs Confirmation');
  await page.getByText('terraform_data.a').first().waitFor();
  expect((await client.get(`/workspaces/${id}`)).attributes['source-module-id']).toMatch(/1\.1\.0$/);
  const run = page.url().split('/').pop() ?? '';
  await page.goto(overview);
  await module.getByText('Its run is in progress.').waitFor();
  await client.act(run, 'discard');
};

it('users without permission to publish see the documentation without buttons', async () => {
  operate(platform);
  const token = await newMember(organization, 'read');
  const page = await visit(at, { token });
  await page.getByText('Makes boxes of any size.').waitFor();
  expect(await page.getByRole('button', { name: 'Delete' }).count()).toBe(0);
  expect(await page.getByRole('link', { name: 'New workspace' }).count()).toBe(0);
  await tab(page, 'Tests');
  await page.getByText('Only teams that publish modules').waitFor();
  await tab(page, 'Versions');
  await page.getByRole('list', { name: 'Versions' }).waitFor();
  expect(await page.getByRole('button', { name: /Publish|Deprecate|Delete/ }).count()).toBe(0);
});

it('the registry lists providers and their versions, with missing parts', async () => {
  const path = `/organizations/${organization}/registry-providers`;
  const provider = newName('cloud');
  await client.create(path, 'registry-providers', {
    name: provider,
    namespace: organization,
    'registry-name': 'private',
  });
  await client.create(`${path}/private/${organization}/${provider}/versions`, 'registry-provider-versions', {
    version: '1.0.0',
    'key-id': '34365D9472D7468F',
    protocols: ['5.0'],
  });
  const page = await visit(`/app/${organization}/registry/providers`);
  await page.getByRole('link', { name: new RegExp(provider) }).click();
  await page.getByText('incomplete').waitFor();
  await page.getByRole('button', { name: 'Delete 1.0.0' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete version' }).click();
  await page.getByText('No versions yet.').waitFor();
});
