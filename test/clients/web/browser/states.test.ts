import { createHash } from 'node:crypto';
import { beforeAll, expect, it } from 'vitest';
import { operate } from '#test/e2e/support/operator.ts';
import { newWorkspace, type Resource } from '#test/e2e/support/world.ts';
import { client, organization, platform, visit } from './support/reader.ts';
import { picture } from './support/views.ts';

/** Pushed states, so that no Terraform has to run: their differences and resources. */

beforeAll(() => operate(platform));

const pushState = async ({ id }: Resource, serial: number, resources: object[]): Promise<Resource> => {
  const lineage = 'lineage-1';
  const text = JSON.stringify({ version: 4, terraform_version: '1.11.4', serial, lineage, outputs: {}, resources });
  const md5 = createHash('md5').update(text).digest('hex');
  await client.call('POST', `/workspaces/${id}/actions/lock`, {});
  const state = Buffer.from(text).toString('base64');
  const version = await client.create(`/workspaces/${id}/state-versions`, 'state-versions', {
    serial,
    lineage,
    md5,
    state,
  });
  await client.call('POST', `/workspaces/${id}/actions/unlock`, {});
  return version;
};

const managed = (name: string, instances: object[], module?: string) => ({
  ...(module ? { module } : {}),
  mode: 'managed',
  type: 'terraform_data',
  name,
  provider: 'provider["terraform.io/builtin/terraform"]',
  instances: instances.map((instance) => ({ schema_version: 0, attributes: { id: 'x' }, ...instance })),
});

const nodes = (indexes: number[]) =>
  managed(
    'node',
    indexes.map((index_key) => ({ index_key })),
  );

it('a state is compared with the one before its run, not with a snapshot of its apply, in natural order', async () => {
  const workspace = await newWorkspace();
  await pushState(workspace, 1, []);
  const snapshot = await pushState(workspace, 2, [nodes([10])]);
  const { keys } = await import('#platform/store/keys.ts');
  const { update } = await import('#platform/store/table.ts');
  await update(keys.stateVersion(snapshot.id), { set: { intermediate: true } });
  const last = await pushState(workspace, 3, [nodes([10, 2, 0])]);
  const page = await visit(`/app/${organization}/workspaces/${workspace.attributes.name}/states/${last.id}`);
  const list = ['terraform_data.node[0]', 'terraform_data.node[2]', 'terraform_data.node[10]'];
  const addresses = page.getByRole('region', { name: 'resources', exact: true }).locator('.address');
  // A comparison with the snapshot would not show node[10].
  await expect.poll(() => addresses.allInnerTexts()).toEqual(list);
  expect(await page.getByLabel('compared with').locator('option:checked').innerText()).toBe('serial 1');
  await page.goto(`/app/${organization}/workspaces/${workspace.attributes.name}/resources`);
  await expect.poll(() => page.getByRole('rowheader').allInnerTexts()).toEqual(list);
});

it('no id is shown while a name is loading', async () => {
  const workspace = await newWorkspace();
  await pushState(workspace, 1, [nodes([0])]);
  const page = await visit('/');
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route(/\/api\/v2\/users\/user-/, async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(`/app/${organization}/workspaces/${workspace.attributes.name}/states`);
  const line = page.getByRole('list', { name: 'State versions' }).getByRole('listitem');
  await line.getByText('pushed by …').waitFor();
  expect(await line.innerText()).not.toContain('user-');
  release();
  await line.getByText(/pushed by [\w-]+/).waitFor();
  expect(await line.innerText()).not.toContain('user-');
});

it('the graph of 300 resources is folded by module, and one module unfolded', async () => {
  const workspace = await newWorkspace();
  const all = Array.from({ length: 30 }, (_, m) =>
    Array.from({ length: 10 }, (_, r) =>
      managed(`r${r}`, [m && !r ? { dependencies: [`module.m${m - 1}.terraform_data.r0`] } : {}], `module.m${m}`),
    ),
  );
  await pushState(workspace, 1, all.flat());
  const page = await visit(`/app/${organization}/workspaces/${workspace.attributes.name}/resources?view=graph`);
  const graph = page.getByRole('region', { name: 'Dependencies', exact: true });
  await graph.getByText('300 resources in 30 nodes, 29 dependencies').waitFor();
  await graph.getByRole('button', { name: /^module\.m3 × 10$/ }).click();
  await graph.getByText('300 resources in 39 nodes').waitFor();
  await graph.getByRole('button', { name: 'terraform_data.r7' }).click();
  await page.getByRole('region', { name: 'Resource module.m3.terraform_data.r7' }).waitFor();
  if (process.env.SCREENSHOTS) await picture(page, process.env.SCREENSHOTS, 'graph-of-300');
  await graph.getByRole('button', { name: 'Fold all' }).click();
  await graph.getByText('in 30 nodes').waitFor();
});
