import { expect, it } from 'vitest';
import { newName, newWorkspace, planJson, startRun, untilFinal } from '#test/e2e/support/world.ts';
import { wrongWith } from './support/accessibility.ts';
import { client, organization, visit } from './support/reader.ts';

/** A pasted .tfvars file becomes variables, after a preview of the changes. */

const file = `region = "eu-central-1"
zones  = ["a", "b"]
size   = 3
motd   = <<EOT
hello
EOT
db_password = "hunter22-long"
kept   = "as it is"
shared = "own"
`;

const configuration = `variable "region" { type = string }
variable "zones" { type = list(string) }
variable "size" { type = number }
variable "motd" { type = string }
variable "db_password" { type = string }
variable "kept" { type = string }
variable "shared" { type = string }
output "all" { value = jsonencode([var.region, var.zones, var.size, var.motd, length(var.db_password), var.kept, var.shared]) }`;

it('a pasted file is previewed and imported for new runs', async () => {
  const workspace = await newWorkspace();
  await client.setVariable(workspace.id, { key: 'region', value: 'us-east-1' });
  await client.setVariable(workspace.id, { key: 'kept', value: 'as it is' });
  const name = newName('defaults');
  const set = await client.create(
    `/organizations/${organization}/varsets`,
    'varsets',
    { name },
    {
      workspaces: { data: [{ type: 'workspaces', id: workspace.id }] },
      vars: { data: [{ type: 'vars', attributes: { key: 'shared', value: 'theirs', category: 'terraform' } }] },
    },
  );
  const page = await visit(`/app/${organization}/workspaces/${workspace.attributes.name}/variables`);
  await page.getByRole('button', { name: 'Import .tfvars' }).click();
  const dialog = page.getByRole('dialog');
  const content = dialog.getByLabel('Content of a .tfvars');
  await content.fill('region = "a"\nregion = "b"');
  await dialog.getByText('line 2: give each variable once').waitFor();
  await content.fill(`${file}left_out = "x"`);
  const line = (key: string) => dialog.getByRole('row', { name: new RegExp(key) });
  await line('region').getByText('us-east-1').waitFor();
  await line('region').getByText('replaces', { exact: true }).waitFor();
  await line('kept').getByText('unchanged').waitFor();
  await line('shared').getByText(`overrides set ${name}`).waitFor();
  expect(await dialog.getByLabel('Sensitive: db_password').isChecked()).toBe(true);
  expect(await line('db_password').innerText()).not.toContain('hunter22');
  await line('left_out').getByRole('checkbox', { name: 'left_out', exact: true }).uncheck();
  expect(await wrongWith(page, 'import of variables')).toEqual([]);
  await dialog.getByRole('button', { name: 'Import 6 variables' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page
    .getByRole('row', { name: /^zones/ })
    .getByText('Terraform, HCL')
    .waitFor();
  await page
    .getByRole('row', { name: /^db_password/ })
    .getByText('sensitive', { exact: true })
    .waitFor();
  expect(await page.getByText('left_out').count()).toBe(0);

  const run = await untilFinal(await startRun(workspace, { 'main.tf': configuration }, { 'plan-only': true }));
  const { planned_values: planned } = await planJson(run);
  expect(JSON.parse(planned.outputs.all.value)).toEqual([
    'eu-central-1',
    ['a', 'b'],
    3,
    'hello\n',
    'hunter22-long'.length,
    'as it is',
    'own',
  ]);
  await client.call('DELETE', `/varsets/${set.id}`);
});
