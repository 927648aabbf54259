import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isAtHand, newestClient } from '#test/hcp-clients/terraform.ts';
import { hasGo, withQueryProvider } from '../support/drift-provider.ts';
import { newSharedFolder } from '../support/shared-folder.ts';
import { cloud, Terraform } from '../support/terraform.ts';
import { client, newWorkspace } from '../support/world.ts';

/** `terraform query` of the newest release, in a workspace (`npm run clients` builds it). */
describe.skipIf(!isAtHand(newestClient) || !hasGo)('terraform query', () => {
  it('finds resources in a workspace, without a run, a lock or a state', async () => {
    const folder = newSharedFolder('listed-');
    for (const name of ['one.txt', 'two.txt']) writeFileSync(join(folder, name), '');
    const workspace = await newWorkspace({ 'terraform-version': newestClient.version });
    await client.setVariable(workspace.id, { key: 'folder', value: folder });
    const here = new Terraform({ program: newestClient.path });
    await withQueryProvider(here.directory);
    here.write('cloud.tf', cloud(`name = "${workspace.attributes.name}"`));
    here.write('main.tf', 'variable "folder" {\n  type = string\n}\n');
    here.write(
      'all.tfquery.hcl',
      'list "listed_file" "all" {\n  provider = listed\n  config {\n    folder = var.folder\n  }\n}\n',
    );
    await here.succeed('init -input=false');
    const text = await here.succeed('query');
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
