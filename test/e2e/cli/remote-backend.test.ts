import { describe, expect, it } from 'vitest';
import { example, remote, runIn, Terraform, workspaceNamed } from '../support/terraform.ts';
import { client, newName } from '../support/world.ts';

/** The older client of the same API: it does not render plans, so it gets text. */

describe.concurrent('with backend "remote", terraform', () => {
  it('plans, applies, shows and destroys in one workspace', async () => {
    const name = newName('remote');
    const here = new Terraform({ files: { 'backend.tf': remote(`name = "${name}"`), 'main.tf': example } });
    await here.succeed('init -input=false');
    expect((await workspaceNamed(name)).attributes['terraform-version']).toBe('1.11.4');

    const { code, text: planned } = await here.run('apply -target=terraform_data.a', ['no']);
    expect({ code, planned }).toMatchObject({ code: 1, planned: expect.stringContaining('Apply discarded.') });
    expect(planned).toContain('# terraform_data.a will be created');
    expect(planned).toContain('Plan: 1 to add, 0 to change, 0 to destroy.');
    expect(planned).not.toMatch(/"@level"|backend "local"/);
    expect((await runIn(planned)).attributes).toMatchObject({ source: 'terraform', 'plan-only': false });

    const applied = await here.succeed('apply', ['yes']);
    expect(applied).toContain('Apply complete! Resources: 2 added');
    expect(applied, 'JSON lines, which it does not render').not.toContain('"@level"');
    // This client takes variables from such files only.
    here.write('n.auto.tfvars', 'n = "next"\n');
    expect(await here.succeed('apply -auto-approve')).toContain('0 added, 1 changed, 0 destroyed');
    expect(await here.succeed('output -raw n')).toBe('next');
    expect(await here.succeed('output -raw secret')).toBe('hunter2');
    await here.succeed('state mv terraform_data.b terraform_data.c');
    expect(await here.succeed('state list')).toBe('terraform_data.a\nterraform_data.c\n');
    const state = JSON.parse(await here.succeed('state pull'));
    here.write('another.tfstate', JSON.stringify({ ...state, lineage: 'another' }));
    expect(await here.fail('state push another.tfstate')).toContain('lineage');
    await here.succeed('state push -force another.tfstate');
    expect(JSON.parse(await here.succeed('state pull')).lineage).toBe('another');
    expect(await here.succeed('destroy -auto-approve')).toContain('2 destroyed');
  });

  it('auto-applies where the workspace has auto-apply, and shows errors', async () => {
    const name = newName('auto');
    const here = new Terraform({ files: { 'backend.tf': remote(`name = "${name}"`), 'main.tf': example } });
    await here.succeed('init -input=false');
    const { id } = await workspaceNamed(name);
    await client.call('PATCH', `/workspaces/${id}`, { data: { attributes: { 'auto-apply': true } } });
    expect(await here.succeed('apply')).toContain('Apply complete! Resources: 2 added');
    here.write('more.tf', 'output "x" {\n  value = terraform_data.missing.id\n}\n');
    const { code, text } = await here.run('plan');
    expect({ code, text }).toMatchObject({
      code: 1,
      text: expect.stringContaining('Reference to undeclared resource'),
    });
  });

  it('keeps workspaces apart by a prefix', async () => {
    const prefix = `${newName('pre')}-`;
    const here = new Terraform({ files: { 'backend.tf': remote(`prefix = "${prefix}"`), 'main.tf': example } });
    await here.fail('init -input=false');
    await here.succeed('workspace new dev');
    await here.succeed('workspace new test');
    expect(await here.succeed('workspace list')).toMatch(/^ {2}dev\n\* test$/m);
    await here.succeed('workspace select dev');
    const planned = await here.succeed('plan');
    expect(planned).toContain('Plan: 2 to add');
    expect((await runIn(planned)).attributes['plan-only']).toBe(true);
    await here.succeed('workspace delete test');
    expect((await workspaceNamed(`${prefix}dev`)).attributes.name).toBe(`${prefix}dev`);
    await expect(workspaceNamed(`${prefix}test`)).rejects.toMatchObject({ status: 404 });
  });
});
