import { expect, it } from 'vitest';
import { newName, resources, startRun, untilFinal } from '#test/e2e/support/world.ts';
import { client, organization, visit } from './support/reader.ts';

/** Actions on several workspaces at once, and lists with all relevant facts. */

it('several workspaces are locked, tagged and moved after one confirmation, and failures are shown', async () => {
  const common = newName('bulk');
  const made = await Promise.all(
    ['a', 'b', 'c'].map((letter) => client.createWorkspace(organization, `${common}-${letter}`)),
  );
  const [a, b, c] = made.map(({ id }) => id) as [string, string, string];
  const project = await client.create(`/organizations/${organization}/projects`, 'projects', { name: newName('bulk') });
  await client.call('POST', `/workspaces/${c}/actions/lock`, {});
  const page = await visit(`/app/${organization}/workspaces?search=${common}&sort=name`);
  await page.getByRole('button', { name: 'Select', exact: true }).click();
  await page.getByRole('button', { name: 'Select all 3' }).click();
  const bar = page.getByRole('region', { name: 'Actions on the selected workspaces' });
  const dialog = page.getByRole('dialog');
  await bar.getByRole('button', { name: 'Lock', exact: true }).click();
  await dialog.getByText(`${common}-a, ${common}-b, ${common}-c`).waitFor();
  await dialog.getByLabel('Reason').fill('maintenance');
  await dialog.getByRole('button', { name: 'Lock workspaces' }).click();
  await dialog.getByText('Done for 2 of 3.').waitFor();
  await expect.poll(() => dialog.getByRole('listitem').innerText()).toContain(`${common}-c`);
  await dialog.getByRole('button', { name: 'Close' }).click();
  // Failed workspaces stay selected.
  await bar.getByText('1 selected').waitFor();
  expect((await client.get(`/workspaces/${a}`)).attributes).toMatchObject({
    locked: true,
    'locked-reason': 'maintenance',
  });

  await page.getByLabel(`Select ${common}-a`).check();
  await page.getByLabel(`Select ${common}-c`).uncheck();
  await bar.getByRole('button', { name: 'Add tag' }).click();
  await dialog.getByLabel('Tag').fill('bulk-tag');
  await dialog.getByRole('button', { name: 'Add tag' }).click();
  await dialog.waitFor({ state: 'detached' });
  const tags = async (id: string) => (await client.get(`/workspaces/${id}`)).attributes['tag-names'];
  expect([await tags(a), await tags(b)]).toEqual([['bulk-tag'], []]);

  await page.getByLabel(`Select ${common}-b`).check();
  await bar.getByRole('button', { name: 'Move' }).click();
  await dialog.getByLabel('Project').selectOption(project.attributes.name);
  await dialog.getByRole('button', { name: 'Move workspaces' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect((await client.get(`/workspaces/${b}`)).relationships?.project?.data).toMatchObject({ id: project.id });
});

it('a list of runs shows changes, duration and commit of each', async () => {
  const workspace = await client.createWorkspace(organization, newName('dense'));
  await untilFinal(await startRun(workspace, { 'main.tf': resources(['a', 'b']) }, { 'auto-apply': true }));
  const page = await visit(`/app/${organization}/workspaces/${workspace.attributes.name}/runs`);
  const line = page.getByRole('list', { name: 'Runs' }).getByRole('listitem');
  await line.getByText(/\d s/).first().waitFor();
  await expect.poll(() => line.locator('.counts').innerText()).toMatch(/\+2\s*~0\s*−0/);
});
