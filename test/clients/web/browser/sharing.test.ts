import { expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { newName, newWorkspace, resources, startRun, untilFinal } from '#test/e2e/support/world.ts';
import { client, organization, runPath, visit } from './support/reader.ts';

/** Relations between workspaces: shared variables and run triggers. */

it('a workspace has a set’s variables, which its own ones override', async () => {
  const { attributes, id } = await newWorkspace();
  await client.setVariable(id, { key: 'region', value: 'of-the-workspace' });
  const name = newName('set');
  const page = await visit(`/app/${organization}/variable-sets`);
  await page.getByRole('button', { name: 'New variable set' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill(name);
  await page.getByRole('button', { name: 'Create variable set' }).click();
  await page.getByRole('heading', { name }).waitFor();
  for (const [key, value] of [
    ['region', 'of-the-set'],
    ['account', '123456789012'],
  ] as const) {
    await page.getByRole('button', { name: 'Add variable' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(key);
    await dialog.getByRole('textbox', { name: 'Value' }).fill(value);
    await dialog.getByRole('button', { name: 'Add variable' }).click();
    await page.getByRole('cell', { name: value }).waitFor();
    // Its button has the same name as that of the list, which may show the variable before the dialog has closed.
    await dialog.waitFor({ state: 'detached' });
  }
  await page.getByLabel('Apply to a workspace').selectOption({ label: attributes.name });
  await page.getByRole('link', { name: attributes.name }).click();
  await page.getByRole('row', { name: /account.*123456789012.*from/s }).waitFor();
  const rows = async () =>
    (await page.getByRole('row', { name: 'region' }).allInnerTexts()).map((row) => [
      /of-the-\w+/.exec(row)?.[0],
      row.includes('overridden'),
    ]);
  // The workspace's own variables load separately.
  await expect.poll(rows).toEqual([
    ['of-the-workspace', false],
    ['of-the-set', true],
  ]);
});

it('an apply in one workspace queues a run in another, which shows its trigger', async () => {
  const source = await newWorkspace({ 'auto-apply': true });
  const target = await newWorkspace();
  await client.upload(target.id, await packFiles({ 'main.tf': resources(['b']) }));
  // The run that the apply queues does not have to start.
  await client.call('POST', `/workspaces/${target.id}/actions/lock`, {});
  const page = await visit(`/app/${organization}/workspaces/${target.attributes.name}/settings`);
  await page.getByLabel('Add a source workspace').selectOption({ label: source.attributes.name });
  await page.getByRole('button', { name: `Remove: source workspace ${source.attributes.name}` }).waitFor();
  const run = await untilFinal(await startRun(source, { 'main.tf': resources(['a']) }, { message: 'First link' }));
  await page.getByLabel('Workspace').getByRole('link', { name: 'Runs' }).click();
  await page
    .getByRole('link', { name: new RegExp(source.attributes.name) })
    .first()
    .click();
  await page.getByRole('link', { name: `apply in ${source.attributes.name}` }).click();
  await page.getByRole('heading', { name: 'First link' }).waitFor();
  expect(new URL(page.url()).pathname).toBe(runPath(source.attributes.name, run.id));
});
