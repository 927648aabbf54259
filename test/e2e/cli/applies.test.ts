import { beforeAll, describe, expect, it } from 'vitest';
import { inWorkspace, runIn, type Terraform } from '../support/terraform.ts';
import { client, type Resource } from '../support/world.ts';

describe('terraform apply', () => {
  let here: Terraform;
  let workspace: Resource;
  beforeAll(async () => {
    ({ here, workspace } = await inWorkspace());
  });

  it('discards the run unless the answer is "yes"', async () => {
    const { code, text } = await here.run('apply', ['no']);
    expect({ code, text }).toMatchObject({ code: 1, text: expect.stringContaining('Apply discarded.') });
    expect((await client.waitForRun((await runIn(text)).id, (run) => run.attributes.status === 'discarded')).id);
  });

  it('ends when another user discards the run', async () => {
    const command = here.start('apply');
    await command.until('Enter a value:');
    await client.act((await runIn(command.text)).id, 'discard');
    expect((await command.ended).text).toMatch(/discarded/i);
  });

  it('asks, and applies after "yes"', async () => {
    const command = here.start('apply');
    await command.until(`Do you want to perform these actions in workspace "${workspace.attributes.name}"?`);
    const waiting = await runIn(command.text);
    expect(waiting.attributes).toMatchObject({ status: 'planned', actions: { 'is-confirmable': true } });
    command.answer('yes');
    await command.until(/terraform_data\.a: Creating\.\.\./);
    const { code, text } = await command.ended;
    expect({ code, text }).toMatchObject({ code: 0 });
    expect(text).toContain('Apply complete! Resources: 2 added, 0 changed, 0 destroyed.');
    expect(text).toMatch(/n\s+= "x"/);
    expect(text).toMatch(/secret\s+= \(sensitive value\)/);
    expect(text).not.toMatch(/hunter2|@level/);
  });

  it('does not ask when there are no changes', async () => {
    const text = await here.succeed('apply');
    expect(text).toContain('No changes. Your infrastructure matches the configuration.');
    expect(text).not.toContain('Enter a value');
  });

  it('with -auto-approve does not ask', async () => {
    const text = await here.succeed(['apply', '-auto-approve', '-var', 'n=next', '-replace=terraform_data.b']);
    expect(text).toContain('Apply complete! Resources: 1 added, 1 changed, 1 destroyed.');
    expect(text).not.toContain('Enter a value');
  });

  it('without a terminal leaves the run waiting for confirmation, and prints its URL', async () => {
    const { code, text } = await here.run('apply -input=false -var n=later');
    expect({ code, text }).toMatchObject({
      code: 1,
      text: expect.stringContaining('Please handle run confirmation in the UI'),
    });
    const run = await runIn(text);
    expect(run.attributes.actions['is-confirmable']).toBe(true);
    await client.act(run.id, 'discard');
    await client.waitForRun(run.id, ({ attributes }) => attributes.status === 'discarded');
  });

  it('destroys only a target, and continues when another user confirms', async () => {
    const command = here.start('destroy -target=terraform_data.b');
    await command.until('Enter a value:');
    const run = await runIn(command.text);
    expect(run.attributes['is-destroy']).toBe(true);
    await client.act(run.id, 'apply');
    const { code, text } = await command.ended;
    expect({ code, text }).toMatchObject({ code: 0, text: expect.stringMatching(/(Apply|Destroy) complete!/) });
    expect(text).toContain('Resource targeting is in effect');
    expect(await here.succeed('state list')).toBe('terraform_data.a\n');
  });

  it('destroys after "yes"', async () => {
    const text = await here.succeed('destroy', ['yes']);
    expect(text).toContain('Do you really want to destroy all resources');
    expect(text).toMatch(/(Apply|Destroy) complete! Resources: (0 added, 0 changed, )?1 destroyed\./);
    expect((await client.get(`/workspaces/${workspace.id}`)).attributes['resource-count']).toBe(0);
  });
});

describe('terraform apply, when something goes wrong,', () => {
  it('shows the error, fails, and keeps completed changes', async () => {
    const { here } = await inWorkspace(`
resource "terraform_data" "good" {}
resource "terraform_data" "bad" {
  depends_on = [terraform_data.good]
  provisioner "local-exec" {
    command = "echo about to fail; exit 3"
  }
}`);
    const { code, text } = await here.run('apply -auto-approve');
    expect({ code, text }).toMatchObject({ code: 1 });
    expect(text).toContain('about to fail');
    expect(text).toContain('Error: local-exec provisioner error');
    expect((await runIn(text)).attributes.status).toBe('errored');
    expect((await here.succeed('state list')).split('\n')).toEqual(['terraform_data.bad', 'terraform_data.good', '']);
    expect(await here.succeed('state show terraform_data.bad')).toContain('terraform_data.bad: (tainted)');
  });
});
