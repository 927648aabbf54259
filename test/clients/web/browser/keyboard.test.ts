import { expect, it } from 'vitest';
import { newName, newWorkspace, resources, startRun, untilFinal } from '#test/e2e/support/world.ts';
import { client, organization, runPath, seesStatus, visit } from './support/reader.ts';

/** Every view is a few keys away, and a failed run is retried with one click. */

it('the palette goes to a workspace, its tabs and a run by name without a mouse', async () => {
  const workspace = await newWorkspace();
  const { name } = workspace.attributes;
  const page = await visit(`/app/${organization}/workspaces`);
  await page.getByRole('heading', { name: 'Workspaces' }).waitFor();
  await page.keyboard.press('Control+k');
  const dialog = page.getByRole('dialog');
  const field = dialog.getByRole('combobox');
  await field.fill(name);
  await dialog.getByRole('option', { name, selected: true }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name, exact: true }).waitFor();
  await page.keyboard.press('Control+k');
  await field.fill('variab');
  await dialog.getByRole('option', { name: /^Variables/, selected: true }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/workspaces/${name}/variables`);
  await page.keyboard.press('Control+k');
  await field.waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.keyboard.press('?');
  await dialog.getByText('Next entry of a list').waitFor();
  await page.keyboard.press('Escape');
  // The run does not have to start.
  await client.call('POST', `/workspaces/${workspace.id}/actions/lock`, {});
  const run = await startRun(workspace, { 'main.tf': resources(['a']) });
  await page.keyboard.press('Control+k');
  await field.fill(run.id);
  await dialog.getByRole('option', { name: run.id }).click();
  await page.waitForURL(`**/runs/${run.id}`);
});

it('the keyboard moves through a list and its search; shortcuts are off in fields', async () => {
  const common = newName('keys');
  const names = ['a', 'b'].map((letter) => `${common}-${letter}`);
  await Promise.all(
    names.map((name) => client.create(`/organizations/${organization}/workspaces`, 'workspaces', { name })),
  );
  const page = await visit(`/app/${organization}/workspaces?search=${common}`);
  await page.getByRole('link', { name: names[0] as string }).waitFor();
  // Signing in left the focus in its form.
  await page.getByRole('heading', { name: 'Workspaces' }).click();
  await page.keyboard.press('j');
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('href'));
  const first = await focused();
  await page.keyboard.press('j');
  expect(await focused()).not.toBe(first);
  await page.keyboard.press('k');
  expect(await focused()).toBe(first);
  await page.keyboard.press('/');
  await page.keyboard.type('jk?');
  expect(await page.getByRole('searchbox').inputValue()).toBe('jk?');
  expect(await page.getByRole('dialog').count()).toBe(0);
});

it('the tab’s title shows how many runs wait for the user', async () => {
  const workspace = await newWorkspace();
  const run = await startRun(workspace, { 'main.tf': resources(['a']) });
  await client.waitForRun(run.id, ({ attributes }) => attributes.actions['is-confirmable']);
  const page = await visit(`/app/${organization}/overview`);
  await page.getByRole('list', { name: 'Waiting for you' }).getByRole('listitem').first().waitFor();
  await expect.poll(() => page.title()).toMatch(new RegExp(`^\\(\\d+\\) ${organization} · `));
  expect(await page.locator('link[rel=icon]').getAttribute('href')).toMatch(/\.svg#attention$/);
});

it('the tab’s title shows an errored run, which is retried with the same options', async () => {
  const workspace = await newWorkspace();
  const run = await untilFinal(
    await startRun(workspace, { 'main.tf': 'output "a" { value = file("missing") }' }, { 'plan-only': true }),
  );
  const page = await visit(runPath(workspace.attributes.name, run.id));
  await seesStatus(page, 'Plan Errored');
  await expect.poll(() => page.title()).toMatch(/^Plan Errored: /);
  expect(await page.locator('link[rel=icon]').getAttribute('href')).toMatch(/\.svg#bad$/);
  await page.getByRole('button', { name: 'Retry' }).click();
  await page.getByRole('heading', { name: `Retry: ${run.attributes.message}` }).waitFor();
  await page.getByText('plan only').first().waitFor();
});
