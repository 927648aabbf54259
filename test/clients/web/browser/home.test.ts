import { expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import type { Resource } from '#clients/client/client.ts';
import { operate } from '#test/e2e/support/operator.ts';
import { newName, resources, untilConfirmable, untilFinal } from '#test/e2e/support/world.ts';
import { planOf } from '#test/resources/costs/support.ts';
import { estimate } from './support/operator.ts';
import { client, platform, visit } from './support/reader.ts';
import { picture } from './support/views.ts';

/** The overview of a separate organization: first what needs attention, then its history. */

const home = newName('home');
const folder = process.env.SCREENSHOTS;

const start = async (
  workspace: Resource,
  main: string,
  attributes: Record<string, unknown> = {},
): Promise<Resource> => {
  const version = await client.upload(workspace.id, await packFiles({ 'main.tf': main }));
  return client.createRun(workspace.id, attributes, version.id);
};

const age = async ({ id }: Resource): Promise<void> => {
  const { keys } = await import('#platform/store/keys.ts');
  const { update } = await import('#platform/store/table.ts');
  const at = new Date(Date.now() - 100 * 86_400_000).toISOString();
  await update(keys.workspace(id), { set: { 'state.at': at } });
};

it('the overview shows waiting, failing, running and stale workspaces, why they fail, and charts with tables', async () => {
  operate(platform);
  await client.create('/organizations', 'organizations', { name: home, email: 'home@localhost' });
  const names = ['deciding', 'broken', 'busy', 'quiet'];
  const [deciding, broken, busy, quiet] = (await Promise.all(
    names.map((name) => client.createWorkspace(home, name)),
  )) as [Resource, Resource, Resource, Resource];
  const applied = await untilConfirmable(await start(quiet, resources(['a', 'b'])));
  const gateway = { type: 'aws_nat_gateway', before: {}, after: {} };
  await estimate(applied.id, planOf([gateway, { type: 'aws_eks_cluster', after: {} }]));
  await client.act(applied.id, 'apply');
  await untilFinal(applied);
  await age(quiet);
  await untilFinal(await start(broken, 'output "a" {'));
  await untilConfirmable(await start(deciding, resources(['a'])));
  const long = await start(busy, resources(['a'], 600), { 'auto-apply': true });
  await client.waitForRun(long.id, ({ attributes }) => attributes.status === 'applying');

  const page = await visit(`/app/${home}/overview`);
  const listed = (title: string) => page.getByRole('list', { name: title, exact: true }).locator('.title');
  await expect.poll(() => listed('Waiting for you').allInnerTexts()).toEqual(['deciding']);
  await expect.poll(() => listed('Failing').allInnerTexts()).toEqual(['broken']);
  await expect.poll(() => listed('Running').allInnerTexts()).toEqual(['busy']);
  await expect.poll(() => listed('Unchanged for 90 days').allInnerTexts()).toEqual(['quiet']);
  await page.getByRole('list', { name: 'Failing' }).locator('.failure').waitFor();
  const totals = page.locator('dl.totals');
  await expect.poll(async () => (await totals.innerText()).split(/\s+/)).toEqual(expect.arrayContaining(['50', '%']));
  const daily = page.locator('figure', { hasText: 'discarded or canceled' });
  await daily.getByText('As a table').click();
  const cells = await daily.getByRole('row').last().getByRole('cell').allInnerTexts();
  expect(cells.slice(0, 3)).toEqual(['1', '1', '0']);
  const trend = page.locator('figure', { hasText: 'Resources' });
  await trend.locator('figcaption').getByText('2').waitFor();
  await trend.getByText('As a table').click();
  expect(await trend.getByRole('row').count()).toBe(15);
  const costs = page.locator('figure', { hasText: 'Estimated cost per month' });
  // 32.85 and 73.
  await costs.locator('figcaption').getByText('$105.85').waitFor();
  expect(await costs.locator('polyline').getAttribute('points')).toMatch(/^\S+( \S+){13}$/);
  await costs.getByText('As a table').click();
  const days = await costs.getByRole('row').allInnerTexts();
  // The gateway existed before the cluster.
  expect([days.length, days.at(-1), days.at(-2)]).toEqual([
    15,
    expect.stringContaining('$105.85'),
    expect.stringContaining('$32.85'),
  ]);
  if (folder) await picture(page, folder, 'home');
  await page.getByRole('list', { name: 'Waiting for you' }).getByRole('link').click();
  await page.getByRole('button', { name: 'Confirm & Apply' }).waitFor();
  await client.act(long.id, 'cancel');
});
