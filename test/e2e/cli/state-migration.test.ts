import { describe, expect, it } from 'vitest';
import { cloud, example, remote, Terraform, workspaceNamed } from '../support/terraform.ts';
import { newName } from '../support/world.ts';

/** terraform init with an existing state. */

describe.concurrent('a state from another backend', () => {
  it('is migrated from a file', async () => {
    const name = newName('moved');
    const here = new Terraform({ files: { 'main.tf': example } });
    await here.succeed('init');
    await here.succeed('apply -auto-approve');
    here.write('cloud.tf', cloud(`name = "${name}"`));
    const text = await here.succeed('init', ['yes']);
    expect(text).toContain('Do you wish to proceed?');
    expect(await here.succeed('state list')).toBe('terraform_data.a\nterraform_data.b\n');
    expect((await workspaceNamed(name)).attributes).toMatchObject({ locked: false, 'resource-count': 2 });
  });

  it('is migrated with all its workspaces, under other names and with tags', async () => {
    const tag = newName('moved');
    const here = new Terraform({ files: { 'main.tf': example } });
    await here.succeed('init');
    await here.succeed('apply -auto-approve');
    await here.succeed('workspace new test');
    await here.succeed('apply -auto-approve -var n=test');
    here.write('cloud.tf', cloud(`tags = ["${tag}"]`));
    const command = here.start('init');
    await command.until('Please provide a new workspace name');
    command.answer('main');
    await command.until('would you like to rename your workspaces?');
    command.answer('1');
    await command.until('Enter a pattern with an asterisk');
    command.answer(`${tag}-*`);
    const { code, text } = await command.ended;
    expect({ code, text }).toMatchObject({ code: 0, text: expect.stringContaining('Migration complete!') });
    expect(await here.succeed('workspace list')).toBe(`  ${tag}-main\n* ${tag}-test\n\n`);
    expect(await here.succeed('output -raw n')).toBe('test');
    await here.succeed(`workspace select ${tag}-main`);
    expect(await here.succeed('output -raw n')).toBe('x');
    expect((await workspaceNamed(`${tag}-main`)).attributes).toMatchObject({ locked: false, 'tag-names': [tag] });
  });

  it('is not moved when backend "remote" becomes a cloud block', async () => {
    const name = newName('remote');
    const here = new Terraform({ files: { 'block.tf': remote(`name = "${name}"`), 'main.tf': example } });
    await here.succeed('init -input=false');
    await here.succeed('apply -auto-approve');
    here.write('block.tf', cloud(`name = "${name}"`));
    expect(await here.fail('plan')).toContain('Changed from backend "remote" to HCP Terraform.');
    expect(await here.succeed('init', ['yes'])).toContain('Migrating from backend "remote" to HCP Terraform.');
    expect(await here.succeed('state list')).toBe('terraform_data.a\nterraform_data.b\n');
    expect((await workspaceNamed(name)).attributes).toMatchObject({ locked: false, 'resource-count': 2 });
  });
});
