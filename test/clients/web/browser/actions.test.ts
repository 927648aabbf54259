import { beforeAll, describe, expect, it } from 'vitest';
import { operate } from '#test/e2e/support/operator.ts';
import {
  newName,
  newWorkspace,
  type Resource,
  resources,
  startRun,
  untilConfirmable,
  untilStatus,
} from '#test/e2e/support/world.ts';
import { newMember } from './support/operator.ts';
import { client, newPage, organization, platform, runPath, seesStatus, signIn, visit } from './support/reader.ts';

/** The page offers exactly the permitted actions, and each takes effect. */

const files = { 'main.tf': resources(['a', 'b']) };
let workspace: Resource;
let current: Resource | undefined;

beforeAll(async () => {
  workspace = await newWorkspace();
});

/** The run that waits for a decision in the tests' workspace; a new one if a test has decided it. */
const waiting = async (): Promise<{ run: Resource; path: string }> => {
  if (!current || !(await client.run(current.id)).attributes.actions['is-confirmable'])
    current = await untilConfirmable(await startRun(workspace, files, { message: 'Change something' }));
  return { run: current, path: runPath(workspace.attributes.name, current.id) };
};

describe('a run that waits for a decision', () => {
  it('is seen by a user with read access, without a button that would be refused', async () => {
    const { path } = await waiting();
    operate(platform);
    const page = await visit(path, { token: await newMember(organization, 'read') });
    await page.getByText('Waiting for confirmation by someone with apply permission').waitFor();
    for (const name of ['Confirm & Apply', 'Discard', 'Cancel Run', 'Comment']) {
      expect(await page.getByRole('button', { name }).count(), name).toBe(0);
    }
    await page.goto(path.replace(/\/runs.*/, ''));
    await page.getByRole('heading', { name: workspace.attributes.name }).waitFor();
    for (const name of ['Start new run', 'Lock', 'Delete workspace']) {
      expect(await page.getByRole('button', { name, exact: true }).count(), name).toBe(0);
    }
    await page.getByRole('link', { name: 'Variables' }).click();
    await page.getByText('No variables yet').waitFor();
    expect(await page.getByRole('button', { name: 'Add variable' }).count()).toBe(0);
  });

  it('holds back another run, which can be moved to the front', async () => {
    const { run } = await waiting();
    const next = await client.createRun(workspace.id, { message: 'In a hurry' });
    const page = await visit(runPath(workspace.attributes.name, next.id));
    await page.getByText('Waiting for Change something: Needs Confirmation').waitFor();
    await page.getByRole('button', { name: 'Run this now' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Run this now' }).click();
    await seesStatus(page, 'Needs Confirmation');
    expect((await client.run(run.id)).attributes.status).toBe('discarded');
    current = next;
  });

  it('is discarded, and shows by whom and why', async () => {
    const { run, path } = await waiting();
    const page = await visit(path);
    await page.getByLabel('Comment', { exact: true }).fill('Not today');
    await page.getByRole('button', { name: 'Discard' }).click();
    await seesStatus(page, 'Discarded');
    await page.getByText('Not today').waitFor();
    expect((await client.run(run.id)).attributes.status).toBe('discarded');
    await page.getByLabel('Actions').waitFor({ state: 'detached' });
  });

  it('explains the conflict when another request was first', async () => {
    const { run, path } = await waiting();
    const page = await visit(path);
    const confirm = page.getByRole('button', { name: 'Confirm & Apply' });
    await confirm.waitFor();
    // The page must not see the change before the click.
    await page.route('**/api/v2/runs/run-*include=*', () => {});
    await client.act(run.id, 'discard');
    await confirm.click();
    await page.getByText('The run has changed since you loaded it.').waitFor();
    await page.unroute('**/api/v2/runs/run-*include=*');
  });

  it('is confirmed from the keyboard alone', async () => {
    const { path } = await waiting();
    const page = await visit(path);
    await page.getByRole('button', { name: 'Confirm & Apply' }).waitFor();
    await page.getByLabel('Comment', { exact: true }).focus();
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Confirm & Apply');
    await page.locator('button.settling').first().waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await seesStatus(page, 'Applied');
  });

  // The resources are those that the test before has created.
  it('asks again before it destroys', async () => {
    const run = await untilConfirmable(await client.createRun(workspace.id, { 'is-destroy': true }));
    const page = await visit(runPath(workspace.attributes.name, run.id));
    await page.getByRole('button', { name: 'Confirm & Apply' }).click();
    await page.getByRole('dialog').getByText('This destroys 2 resources').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect((await client.run(run.id)).attributes.status).toBe('planned');
    await client.act(run.id, 'discard');
  });
});

it('a run in progress is canceled', async () => {
  const workspace = await newWorkspace({ 'auto-apply': true });
  const run = await startRun(workspace, { 'main.tf': resources(['a'], 600) });
  await untilStatus(run, 'applying');
  const page = await visit(runPath(workspace.attributes.name, run.id));
  await page.getByRole('button', { name: 'Cancel Run' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Terraform stops as it does on Ctrl-C').waitFor();
  await dialog.getByLabel('Comment').fill('Wrong account');
  await dialog.getByRole('button', { name: 'Cancel Run' }).click();
  await page
    .getByText('Cancel requested')
    .or(page.locator('.status', { hasText: 'Canceled' }))
    .first()
    .waitFor();
  await seesStatus(page, 'Canceled');
  await page.getByText('Wrong account').waitFor();
});

describe('a workspace', () => {
  it('is locked with a reason, holds runs back, and is unlocked', async () => {
    const { attributes, id } = await newWorkspace();
    const page = await visit(`/app/${organization}/workspaces/${attributes.name}`);
    await page.getByRole('button', { name: 'Lock', exact: true }).click();
    await page.getByLabel('Reason').fill('Moving house');
    await page.getByRole('button', { name: 'Lock workspace' }).click();
    await page.getByText('“Moving house”').waitFor();
    expect((await client.get(`/workspaces/${id}`)).attributes.locked).toBe(true);
    await page.getByRole('button', { name: 'Unlock' }).click();
    await page.getByText('“Moving house”').waitFor({ state: 'detached' });
    expect((await client.get(`/workspaces/${id}`)).attributes.locked).toBe(false);
  });

  it('announces its destruction within a day, and postpones it', async () => {
    const { attributes, id } = workspace;
    const at = Date.parse('2030-01-01T10:00:00.000Z');
    const scheduled = { 'auto-destroy-at': new Date(at).toISOString() };
    await client.call('PATCH', `/workspaces/${id}`, { data: { type: 'workspaces', attributes: scheduled } });
    const page = await newPage();
    await page.clock.install({ time: at - 2 * 3_600_000 });
    await page.goto(`/app/${organization}/workspaces/${attributes.name}`);
    await signIn(page);
    await page.getByText('2 resources will be destroyed automatically').waitFor();
    await page.getByRole('button', { name: 'Postpone by a day' }).click();
    const timeOf = async () => Date.parse((await client.get(`/workspaces/${id}`)).attributes['auto-destroy-at']);
    await expect.poll(timeOf).toBe(at + 24 * 3_600_000);
  });

  it('is found by a value of its tags', async () => {
    const names = [newName(), newName()] as const;
    for (const name of names) {
      const data = [{ type: 'tag-bindings', attributes: { key: 'stage', value: name } }];
      await client.create(
        `/organizations/${organization}/workspaces`,
        'workspaces',
        { name },
        { 'tag-bindings': { data } },
      );
    }
    const page = await visit(`/app/${organization}/workspaces`);
    await page.getByLabel('Tag', { exact: true }).selectOption(`stage: ${names[0]}`);
    await page.getByRole('link', { name: names[0] }).waitFor();
    await page.getByRole('link', { name: names[1] }).waitFor({ state: 'detached' });
  });

  it('is renamed, tagged and deleted', async () => {
    const { attributes } = await newWorkspace();
    const page = await visit(`/app/${organization}/workspaces/${attributes.name}/settings`);
    const renamed = `${attributes.name}-renamed`;
    await page.getByLabel('Name', { exact: true }).fill(renamed);
    await page.getByLabel('Tags').fill('net prod');
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByRole('heading', { name: renamed }).waitFor();
    await page.getByRole('button', { name: 'Delete workspace' }).click();
    await page.getByLabel(`Type ${renamed} to confirm`).fill(renamed);
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('heading', { name: 'Workspaces' }).waitFor();
    await expect.poll(() => page.getByText(renamed).count()).toBe(0);
  });
});
