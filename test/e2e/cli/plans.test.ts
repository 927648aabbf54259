import { beforeAll, describe, expect, it } from 'vitest';
import { example, inWorkspace, runIn, type Terraform } from '../support/terraform.ts';
import { client, platform } from '../support/world.ts';

describe.concurrent('terraform plan, in a workspace that has resources,', () => {
  let here: Terraform;
  beforeAll(async () => {
    ({ here } = await inWorkspace());
    await here.succeed('apply -auto-approve');
  });

  it('shows a log while it plans, then the plan, once, and reports changes by its exit code', async () => {
    const command = here.start('plan -detailed-exitcode -var n=changed');
    await command.until(/Initializing plugins and modules\.\.\./);
    const { code, text } = await command.ended;
    expect({ code, text }, 'there are changes').toMatchObject({ code: 2 });
    expect(text).toContain('Terraform v1.11.4\non linux_');
    expect(text).toContain('terraform_data.a: Refreshing state...');
    expect(text).toContain('# terraform_data.a will be updated in-place');
    expect(text).toMatch(/~ input {2}= "x" -> "changed"/);
    expect(text.match(/Plan: 0 to add, 1 to change, 0 to destroy\./g)).toHaveLength(1);
    // The backend that the runner uses must not be visible.
    expect(text).not.toMatch(/backend "local"|successfully initialized|@level/);
    const { attributes } = await runIn(text);
    expect(attributes).toMatchObject({
      status: 'planned_and_finished',
      'plan-only': true,
      source: 'terraform+cloud',
      message: 'Triggered via CLI',
      variables: [{ key: 'n', value: '"changed"' }],
    });
  });

  it('limits the run to -target, and replaces -replace addresses', async () => {
    const targeted = await here.succeed('plan -detailed-exitcode -target=terraform_data.b -var n=left-alone');
    expect(targeted).toContain('No changes.');
    expect(targeted).toContain('Resource targeting is in effect');
    expect((await runIn(targeted)).attributes['target-addrs']).toEqual(['terraform_data.b']);

    const replaced = await here.succeed('plan -replace=terraform_data.b -refresh=false');
    expect(replaced).toContain('# terraform_data.b will be replaced, as requested');
    expect(replaced).not.toContain('Refreshing state');
    expect((await runIn(replaced)).attributes).toMatchObject({
      'replace-addrs': ['terraform_data.b'],
      refresh: false,
    });
  });
});

describe.concurrent('terraform plan, in a new workspace,', () => {
  it('passes variables of any type, from the command line and files, over those of the workspace', async () => {
    const { here, workspace } = await inWorkspace(`
variable "text" {}
variable "list" { type = list(string) }
variable "kept" {}
variable "secret" { sensitive = true }
resource "terraform_data" "a" {
  input = { text = var.text, list = var.list, kept = var.kept, secret = var.secret, place = terraform.workspace }
}`);
    await client.setVariable(workspace.id, { key: 'text', value: 'overridden' });
    await client.setVariable(workspace.id, { key: 'kept', value: 'of the workspace' });
    await client.setVariable(workspace.id, { key: 'secret', value: 'hunter2', sensitive: true });
    here.write('more.tfvars', 'list = ["from", "a file"]\n');
    const text = await here.succeed(['plan', '-var', 'text="quoted" and $${odd}', '-var-file=more.tfvars']);
    expect(text).toContain('+ text   = "\\"quoted\\" and $${odd}"');
    expect(text).toMatch(/\+ "from",\n\s+\+ "a file",/);
    expect(text).toContain('+ kept   = "of the workspace"');
    expect(text).toContain(`+ place  = "${workspace.attributes.name}"`);
    expect(text).toContain('+ secret = (sensitive value)');
    expect(text).not.toContain('hunter2');
  });

  it('shows errors of the configuration with their place, and fails', async () => {
    const { here } = await inWorkspace('output "x" {\n  value = terraform_data.missing.id\n}\n');
    const { code, text } = await here.run('plan');
    expect({ code, text }).toMatchObject({ code: 1 });
    expect(text).toContain('Error: Reference to undeclared resource');
    expect(text).toContain('on main.tf line 2, in output "x":');
    expect((await runIn(text)).attributes.status).toBe('errored');

    here.write('main.tf', 'resource "terraform_data" "a" {\n  input = "not closed\n}\n');
    expect(await here.fail('plan')).toContain('Invalid multi-line string');
  });

  it('prints a plan that is so large that it is sent compressed', async () => {
    const long = `"\${n} ${'long '.repeat(30)}"`;
    const { here } = await inWorkspace(`output "long" { value = [for n in range(1000) : ${long}] }\n`);
    const text = await here.succeed('plan');
    expect(text.match(/\+ "\d+ (long )+"/g)).toHaveLength(1000);
    const { id } = await runIn(text);
    const { headers } = await fetch(`${platform.url}/api/v2/runs/${id}/plan/json-output-redacted`, {
      headers: { authorization: `Bearer ${platform.token}`, 'accept-encoding': 'gzip' },
      redirect: 'manual',
    });
    expect(headers.get('location')).toContain('response-content-encoding=gzip');
  });

  it('generates configuration for imported resources', async () => {
    const { here } = await inWorkspace('import {\n  to = terraform_data.old\n  id = "found"\n}\n');
    const text = await here.succeed('plan -generate-config-out=generated.tf');
    expect(text).toContain('Plan: 1 to import, 0 to add, 0 to change, 0 to destroy.');
    expect(here.read('generated.tf')).toContain('resource "terraform_data" "old"');
  });
});

describe('a plan that is saved', () => {
  it('can be shown, and applied once; others are discarded with a reason when the state changes', async () => {
    const { here, workspace } = await inWorkspace(example);
    const planned = await here.succeed('plan -out=saved.tfplan -var n=kept');
    expect(planned).toContain('terraform apply "saved.tfplan"');
    const run = await runIn(planned);
    expect(run.attributes).toMatchObject({ status: 'planned_and_saved', 'save-plan': true });
    const shown = await here.succeed('show saved.tfplan');
    expect(shown).toContain('# terraform_data.a will be created');
    expect(shown).toContain('Run status: planned and saved (confirmable)');
    const json = JSON.parse(await here.succeed('show -json saved.tfplan'));
    expect(json.resource_changes).toHaveLength(2);

    const late = await runIn(await here.succeed('plan -out=late.tfplan'));
    const applied = await here.succeed('apply saved.tfplan');
    expect(applied).toContain('Apply complete! Resources: 2 added, 0 changed, 0 destroyed.');
    expect(applied).toContain('n = "kept"');
    expect(await here.fail('apply saved.tfplan')).toContain('Saved plan is already applied');

    // The applied configuration is now the workspace's.
    const next = await client.createRun(workspace.id, { 'plan-only': true });
    expect(next.relationships?.['configuration-version']).toEqual(run.relationships?.['configuration-version']);

    const { attributes } = await client.waitForRun(late.id, ({ attributes }) => attributes.status === 'discarded');
    expect(attributes['end-reason']).toContain('state');
    expect(await here.fail('apply late.tfplan')).toContain('Saved plan is discarded');
  });
});
