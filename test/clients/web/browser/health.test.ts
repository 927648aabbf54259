import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { hasGo, withDriftProvider } from '#test/e2e/support/drift-provider.ts';
import { newSharedFolder } from '#test/e2e/support/shared-folder.ts';
import { client, newWorkspace, organization, untilFinal } from '#test/e2e/support/world.ts';
import { visit } from './support/reader.ts';

it.skipIf(!hasGo)('drift is shown, and a run that reverts it started', async () => {
  const folder = newSharedFolder('health-');
  const file = join(folder, 'a');
  const block = `resource "drift_file" "a" {\n  path    = "${file}"\n  content = "as configured"\n}\n`;
  const workspace = await newWorkspace();
  const version = await client.upload(workspace.id, await withDriftProvider(block));
  await untilFinal(await client.createRun(workspace.id, { 'auto-apply': true }, version.id));
  writeFileSync(file, 'changed by hand');

  const { name } = workspace.attributes;
  const page = await visit(`/app/${organization}/workspaces/${name}/health`);
  await page.getByRole('heading', { name: 'No assessments yet' }).waitFor();
  await page.getByRole('link', { name: 'settings', exact: true }).click();
  await page.getByRole('checkbox', { name: /Assess health every 24 hours/ }).check();
  await page.getByRole('button', { name: 'Save settings' }).click();
  await page.getByText('Saved.').waitFor();
  await page.getByRole('link', { name: 'Health', exact: true }).click();
  await page.getByRole('button', { name: 'Assess now' }).click();
  const latest = page.getByRole('region', { name: 'Latest assessment' });
  await latest.getByText('Drifted', { exact: true }).first().waitFor({ timeout: 60_000 });
  await latest.getByText('drift_file.a').waitFor();
  await latest.getByText('changed by hand').first().waitFor();

  const health = page.url();
  await page.goto(`/app/${organization}/workspaces?health=Drifted`);
  const line = page.getByRole('listitem').filter({ hasText: name });
  await line.getByText('Drifted', { exact: true }).waitFor();
  await page.goto(`/app/${organization}/overview`);
  await page.getByRole('list', { name: 'Drifted or unhealthy' }).getByText(name).waitFor();
  await page.goto(`/app/${organization}/workspaces/${name}`);
  await page.getByText('1 resource changed outside of Terraform.').waitFor();
  await page.getByRole('link', { name: 'See what to do' }).waitFor();

  // test/e2e/health.test.ts lets such a run apply.
  await client.call('POST', `/workspaces/${workspace.id}/actions/lock`, {});
  await page.goto(health);
  await latest.getByRole('button', { name: 'Undo the drift' }).click();
  await page.waitForURL(/\/runs\/run-/);
  const { attributes } = await client.get(`/runs/${page.url().split('/').pop()}`);
  expect(attributes).toMatchObject({ status: 'pending', message: 'Undo drift', 'plan-only': false });
});

it('another assessment is offered after one without a result, but not while one is in progress', async () => {
  const workspace = await newWorkspace({ 'assessments-enabled': true });
  const page = await visit(`/app/${organization}/workspaces/${workspace.attributes.name}/health`);
  const button = page.getByRole('button', { name: 'Assess' });
  // A run replaced the assessment: the workspace still reports it in progress for a moment, and there is no result.
  let startedAt: string | null = null;
  await page.route(/\/workspaces\/[^/?]+\?include=current_run,/, async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    body.data.attributes['assessment-started-at'] = startedAt;
    await route.fulfill({ response, json: body });
  });
  await page.route(/\/actions\/assess$/, (route) => {
    startedAt = new Date().toISOString();
    return route.fulfill({ status: 204 });
  });
  await button.click();
  await page.getByRole('button', { name: 'Assessing …' }).waitFor();
  expect(await button.isDisabled()).toBe(true);
  // Later visitors see it too.
  await page.reload();
  await page.getByRole('button', { name: 'Assessing …' }).waitFor();
  startedAt = null;
  await page.getByRole('button', { name: 'Assess now' }).waitFor();
  expect(await button.isEnabled()).toBe(true);
});
