import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isAtHand, newestClient } from '#test/hcp-clients/terraform.ts';
import { hasGo, withQueryProvider } from '../support/drift-provider.ts';
import { newSharedFolder } from '../support/shared-folder.ts';
import { cloud, runIn, Terraform } from '../support/terraform.ts';
import { client, newWorkspace, platform } from '../support/world.ts';

/** Actions, identities and ephemeral values of the newest Terraform, in a workspace (`npm run clients` builds it). */
describe.skipIf(!isAtHand(newestClient) || !hasGo)('Terraform since 1.12', () => {
  const inNewWorkspace = async (main: string): Promise<{ here: Terraform; id: string }> => {
    const workspace = await newWorkspace({ 'terraform-version': newestClient.version });
    const here = new Terraform({ program: newestClient.path });
    await withQueryProvider(here.directory);
    here.write('cloud.tf', cloud(`name = "${workspace.attributes.name}"`));
    here.write('main.tf', main);
    await here.succeed('init -input=false');
    return { here, id: workspace.id };
  };

  it('invokes one action, in a run that plans nothing else', async () => {
    const path = join(newSharedFolder('touched-'), 'here');
    const { here, id } = await inNewWorkspace(
      `action "listed_touch" "one" {\n  config {\n    path = "${path}"\n  }\n}\nresource "terraform_data" "a" {}\n`,
    );
    const text = await here.succeed('apply -auto-approve -invoke=action.listed_touch.one');
    expect(text).toContain('action.listed_touch.one');
    const run = await runIn(text);
    expect(run.attributes).toMatchObject({ 'invoke-action-addrs': ['action.listed_touch.one'], status: 'applied' });
    expect(existsSync(path)).toBe(true);
    const listed = await client.list(`/workspaces/${id}/runs?filter[operation]=action_only`);
    expect(listed.map((one) => one.id)).toEqual([run.id]);
    expect(await here.succeed('plan')).toContain('terraform_data.a will be created');
  });

  it('keeps the identity of a resource, and no ephemeral value', async () => {
    const { here, id } = await inNewWorkspace(`variable "secret" {
  type      = string
  ephemeral = true
  default   = "never-stored"
}
resource "listed_file" "a" {
  path = length(var.secret) > 0 ? "/tmp/identified" : "/tmp/other"
}
`);
    await here.fail('plan');
    here.write('main.tf', here.read('main.tf').replace(/length.*/, '"/tmp/identified"'));
    await here.succeed('apply -auto-approve');
    const state = await client.get(`/workspaces/${id}/current-state-version`);
    const raw = await (
      await fetch(state.attributes['hosted-state-download-url'], {
        headers: { authorization: `Bearer ${platform.token}` },
      })
    ).text();
    expect(JSON.parse(raw).resources[0].instances[0].identity).toEqual({ path: '/tmp/identified' });
    expect(raw).not.toContain('never-stored');
  });
});
