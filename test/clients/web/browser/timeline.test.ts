import { expect, it } from 'vitest';
import { Client } from '#clients/client/client.ts';
import { newName, newWorkspace, resources, startRun, untilConfirmable } from '#test/e2e/support/world.ts';
import { client, organization, platform, runPath, visit } from './support/reader.ts';

/** Decisions and comments in a run's timeline, and lists with the number of search matches. */

it('the timeline keeps entries by users while those of a new status load, and shows the version of "latest"', async () => {
  const workspace = await newWorkspace({ 'terraform-version': 'latest' });
  const run = await untilConfirmable(await startRun(workspace, { 'main.tf': resources(['a']) }));
  const page = await visit(runPath(workspace.attributes.name, run.id));
  await page.getByText(/^\d+\.\d+\.\d+ \(latest\)$/).waitFor();
  const queued = page.locator('.timeline li', { hasText: 'queued the run' });
  await queued.waitFor();
  const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const discarded = page.locator('main .status', { hasText: /^Discarded$/ });
  await page.route(/\/run-events/, async (route) => {
    // The page sends one request at a time: a held poll of the former status would hold the new status too.
    if ((await discarded.count()) > 0) {
      asked.resolve();
      await held.promise;
    }
    await route.continue();
  });
  await client.act(run.id, 'discard');
  await asked.promise;
  expect(await queued.count()).toBe(1);
  held.resolve();
  await page.locator('.timeline li', { hasText: 'discarded the run' }).waitFor();
  expect(await queued.count()).toBe(1);
});

it('the timeline shows that a run was started from the command line', async () => {
  const workspace = await newWorkspace();
  // The runs do not have to start.
  await client.call('POST', `/workspaces/${workspace.id}/actions/lock`, {});
  const first = await startRun(workspace, { 'main.tf': resources(['a']) });
  const response = await fetch(`${platform.url}/api/v2/runs`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${platform.token}`,
      'content-type': 'application/vnd.api+json',
      'x-terraform-integration': 'cloud',
    },
    body: JSON.stringify({
      data: {
        type: 'runs',
        relationships: { workspace: { data: { type: 'workspaces', id: workspace.id } } },
      },
    }),
  });
  const { data } = (await response.json()) as { data: { id: string } };
  const page = await visit(runPath(workspace.attributes.name, data.id));
  await page.getByText(/from the command line/).waitFor();
  await page.goto(runPath(workspace.attributes.name, first.id));
  await page.getByText(/from the API/).waitFor();
  const ours = new Client(platform.url, platform.token, 'stepform/1.2.3');
  const third = await ours.createRun(workspace.id);
  expect(third.attributes).toMatchObject({ source: 'tfe-api', 'source-name': 'stepform' });
  await page.goto(runPath(workspace.attributes.name, third.id));
  await page.getByText(/from the command line/).waitFor();
});

it('the list of workspaces links each workspace, and the run that it shows', async () => {
  const workspace = await newWorkspace();
  const { name } = workspace.attributes;
  const run = await startRun(workspace, { 'main.tf': resources(['a']) });
  const page = await visit(`/app/${organization}/workspaces?search=${name}`);
  const links = page.getByRole('list', { name: 'Workspaces' }).getByRole('link');
  await links.nth(1).click();
  await page.waitForURL(`**/workspaces/${name}/runs/${run.id}`);
  await page.goBack();
  // Anywhere else in the entry.
  await page.getByText('0 resources').click({ force: true });
  await page.waitForURL(`**/workspaces/${name}`);
});

it('the group filters count matching workspaces, in natural order', async () => {
  const common = newName('chips');
  await Promise.all([10, 2, 0].map((i) => client.createWorkspace(organization, `${common}-node${i}`)));
  const page = await visit(`/app/${organization}/workspaces?search=${common}`);
  const chip = page.getByRole('group', { name: 'Show only' }).getByRole('button');
  await expect.poll(() => chip.allInnerTexts()).toEqual(['Idle 3']);
  const names = page.getByRole('list', { name: 'Workspaces' }).getByRole('link', { name: new RegExp(common) });
  await expect
    .poll(async () => (await names.allInnerTexts()).map((text) => /node\d+/.exec(text)?.[0]))
    .toEqual(['node0', 'node2', 'node10']);
  await page.getByLabel('Search by name').fill(`${common}-node2`);
  await expect.poll(() => chip.allInnerTexts()).toEqual(['Idle 1']);
});
