import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { operate } from '#test/e2e/support/operator.ts';
import { newTask } from '#test/e2e/support/run-tasks.ts';
import { newName, newWorkspace, type Resource } from '#test/e2e/support/world.ts';
import { policyFiles } from '#test/support/policies.ts';
import { status } from '#test/support/task-server.ts';
import { newMember } from './support/operator.ts';
import { client, organization, platform, visit } from './support/reader.ts';

/** Run tasks and policy sets are managed by clicks. */

const evil = '<img src=x onerror="window.hacked=1">';
const tasksPath = `/app/${organization}/settings/run-tasks`;
const setsPath = `/app/${organization}/settings/policy-sets`;

const written = async (files: Record<string, string>): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'stepform-policies-'));
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  return folder;
};

let workspace: Resource;
let policies: string;
let withoutRules: string;
beforeAll(async () => {
  operate(platform);
  workspace = await newWorkspace();
  const files = policyFiles('deny := []');
  policies = await written(files);
  withoutRules = await written({ 'policies.hcl': files['policies.hcl'] ?? '' });
});
afterAll(() => Promise.all([policies, withoutRules].map((folder) => rm(folder, { recursive: true, force: true }))));

it('a run task is created once it responds, attached to a workspace, and detached', async () => {
  const { server } = await newTask(() => {});
  const name = newName('scanner');
  const page = await visit(tasksPath);
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'New run task' }).click();
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByLabel('URL').fill(server.url);
  await dialog.getByLabel('Description').fill(evil);
  await dialog.getByLabel('HMAC key').fill('correct horse');
  server.answer = status(503);
  await dialog.getByRole('button', { name: 'Create run task' }).click();
  await dialog.getByRole('alert').getByText('503').waitFor();
  expect(await dialog.getByLabel('URL').getAttribute('aria-invalid')).toBe('true');
  server.answer = status(200);
  await dialog.getByRole('button', { name: 'Create run task' }).click();
  await page.getByRole('button', { name: `Change ${name}` }).click();
  expect(server.requests.at(-1)?.headers['x-tfc-task-signature']).toBeTruthy();
  // The typed text is gone.
  expect(await dialog.getByRole('textbox', { name: 'HMAC key' }).inputValue()).toBe('');
  await dialog.getByLabel('Enabled').uncheck();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('listitem').filter({ hasText: name }).getByText('disabled').waitFor();

  await page.goto(`/app/${organization}/workspaces/${workspace.attributes.name}/settings`);
  await page.getByRole('button', { name: 'Attach a run task' }).click();
  await dialog.getByLabel('Run task').selectOption({ label: name });
  await dialog.getByLabel('Pre-apply').check();
  await dialog.getByLabel('Enforcement').selectOption('mandatory');
  await dialog.getByRole('button', { name: 'Attach' }).click();
  await page.getByText('Post-plan and Pre-apply, mandatory').waitFor();
  await page.getByRole('button', { name: `Detach ${name}` }).click();
  await dialog.getByRole('button', { name: 'Detach' }).click();
  await page.getByText('Attach one to check runs').waitFor();
  expect(await client.list(`/workspaces/${workspace.id}/tasks`)).toEqual([]);
  await page.goto(tasksPath);
  await page.getByRole('button', { name: `Delete ${name}` }).click();
  await dialog.getByRole('button', { name: 'Delete run task' }).click();
  await page.getByRole('button', { name: `Delete ${name}` }).waitFor({ state: 'detached' });
  expect(await page.evaluate(() => (window as unknown as { hacked?: number }).hacked)).toBeUndefined();
});

it('a policy set accepts a valid version, and applies to its scope', async () => {
  const name = newName('set');
  const page = await visit(setsPath);
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'New policy set' }).click();
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByRole('button', { name: 'Create policy set' }).click();
  await page.getByRole('button', { name: 'Upload a version' }).click();
  await dialog.getByLabel('Policies: folder').setInputFiles(withoutRules);
  await dialog.getByRole('button', { name: 'Upload', exact: true }).click();
  await dialog.getByRole('alert').getByText('no .rego file').waitFor();
  const list = await visit(setsPath);
  await list
    .getByRole('listitem')
    .filter({ hasText: name })
    .getByText(/^Newest version rejected: .*no \.rego file/)
    .waitFor();
  await dialog.getByLabel('Policies: folder').setInputFiles(policies);
  await dialog.getByRole('button', { name: 'Upload', exact: true }).click();
  const versions = page.getByRole('list', { name: 'Versions' }).getByRole('listitem');
  await versions.filter({ hasText: 'current version' }).getByText('ready').waitFor();
  await versions.filter({ hasText: 'no .rego file' }).getByText('errored').waitFor();
  await page.getByLabel('Apply to a workspace').selectOption({ label: workspace.attributes.name });
  await page.getByRole('link', { name: workspace.attributes.name }).waitFor();
  await list.reload();
  await list.getByRole('listitem').filter({ hasText: name }).getByText('Applies to').waitFor();
  const [, id = ''] = /(polset-\w+)/.exec(page.url()) ?? [];
  const { attributes, relationships } = await client.get(`/policy-sets/${id}`);
  expect(attributes).toMatchObject({ name, kind: 'opa', 'policy-count': 1, 'workspace-count': 1 });
  expect(relationships?.workspaces?.data).toEqual([{ type: 'workspaces', id: workspace.id }]);
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await dialog.getByRole('button', { name: 'Delete policy set' }).click();
  await page.getByRole('heading', { name: 'Policy sets' }).waitFor();
});

it('policies can be written individually', async () => {
  const name = newName('set');
  const set = await client.create(`/organizations/${organization}/policy-sets`, 'policy-sets', { name, kind: 'opa' });
  const page = await visit(`${setsPath}/${set.id}`);
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Add policy' }).click();
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByLabel('Enforcement').selectOption('mandatory');
  await dialog.getByLabel('Query').fill('data.terraform.sizes.deny');
  await dialog.getByLabel('Source').fill(`package terraform.sizes\n# ${evil}\ndeny := []`);
  await dialog.getByRole('button', { name: 'Add policy' }).click();
  await page.getByRole('listitem').filter({ hasText: 'mandatory' }).getByText(name).waitFor();
  await page.getByRole('button', { name: `Change ${name}` }).click();
  await dialog.getByLabel('Source').waitFor();
  expect(await dialog.getByLabel('Source').inputValue()).toContain(evil);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Add parameter' }).click();
  await dialog.getByLabel('Name').fill('limit');
  await dialog.getByRole('textbox', { name: 'Value' }).fill('correct horse');
  await dialog.getByLabel('Sensitive').check();
  await dialog.getByRole('button', { name: 'Add parameter' }).click();
  await page.getByRole('row', { name: 'limit' }).getByText('sensitive').waitFor();
  // The list may show it before the dialog, which also contains the typed text, has closed.
  await dialog.waitFor({ state: 'detached' });
  expect(await page.content()).not.toContain('correct horse');
  expect(await page.locator('img').count()).toBe(0);
});

it('a user with read access sees runs and states, and no buttons', async () => {
  const { task } = await newTask(() => {});
  const page = await visit(tasksPath, { token: await newMember(organization, 'read') });
  const buttons = page.getByRole('main').getByRole('button', { disabled: false });
  for (const [path, text] of [
    [tasksPath, task.attributes.name],
    [`/app/${organization}/settings/general`, 'Only owners can change'],
    [`/app/${organization}/projects`, 'Default Project'],
    [`/app/${organization}/workspaces/${workspace.attributes.name}/settings`, 'Run triggers'],
  ] as const) {
    await page.goto(path);
    await page.getByText(text).first().waitFor();
    expect(await buttons.allInnerTexts(), path).toEqual([]);
  }
  await page.goto(`/app/${organization}/workspaces`);
  const tabs = page.getByLabel('Organization').getByRole('link');
  await tabs.filter({ hasText: 'Run tasks' }).waitFor();
  expect(await tabs.allInnerTexts()).not.toContain('Policy sets');
});
