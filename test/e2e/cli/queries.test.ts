import { describe, expect, it } from 'vitest';
import { newestClient } from '#test/hcp-clients/terraform.ts';
import { cloud, Terraform } from '../support/terraform.ts';
import { canQuery, queried } from '../support/terraform-query.ts';
import { client, newWorkspace } from '../support/world.ts';

/** `terraform query` of the newest release, in a workspace (`npm run clients` builds it). */
describe.skipIf(!canQuery)('terraform query', () => {
  it('finds resources in a workspace, without a run, a lock or a state', async () => {
    const { workspace, text } = await queried();
    expect(text).toContain('list.listed_file.all');
    expect(text).toMatch(/one\.txt[\s\S]*two\.txt/);
    const [query] = await client.list(`/workspaces/${workspace.id}/queries`);
    expect(query?.attributes).toMatchObject({ status: 'finished', 'generate-config-out': true });
    expect(text).toContain(`/search/${query?.id}`);
    expect(await client.list(`/workspaces/${workspace.id}/runs`)).toEqual([]);
    const shown = await client.get(`/workspaces/${workspace.id}`);
    expect([shown.attributes.locked, shown.relationships?.['current-state-version']]).toEqual([false, { data: null }]);
  });

  it('is rejected when the workspace’s Terraform does not support it', async () => {
    const workspace = await newWorkspace({ 'terraform-version': '1.11.4' });
    const here = new Terraform({ program: newestClient.path });
    here.write('cloud.tf', cloud(`name = "${workspace.attributes.name}"`));
    await here.succeed('init -input=false');
    expect(await here.fail('query')).toMatch(/1\.14/);
  });
});
