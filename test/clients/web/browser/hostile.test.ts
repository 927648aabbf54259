import { expect, it } from 'vitest';
import { newName, newWorkspace, startRun, untilConfirmable } from '#test/e2e/support/world.ts';
import { client, organization, runPath, visit } from './support/reader.ts';

/** Texts from users and configurations never become markup. */

const evil = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';

it('script in names, messages, values, plans and logs is shown as text', async () => {
  const workspace = await newWorkspace({ description: evil });
  await client.setVariable(workspace.id, { key: 'given', value: evil, description: evil });
  const run = await startRun(
    workspace,
    {
      'main.tf': `variable "given" {}
resource "terraform_data" "a" {
  for_each = { ${JSON.stringify(evil)} = 1 }
  input    = { ${JSON.stringify(evil)} = var.given }
}
output "given" { value = var.given }
check "loud" {
  assert {
    condition     = terraform_data.a != null && false
    error_message = <<-EOT
      ${evil} \u001b]8;;javascript:alert(1)\u0007link\u001b]8;;\u0007
    EOT
  }
}
`,
    },
    { message: evil },
  );
  await untilConfirmable(run);
  // A waiting run is among the first of both lists, even with many runs of other tests.
  const page = await visit(`/app/${organization}/runs`);
  await page.getByText('onerror').first().waitFor();
  await page.goto(`/app/${organization}/workspaces`);
  await page.getByText('onerror').first().waitFor();
  await page.goto(runPath(workspace.attributes.name, run.id));
  await page.getByRole('heading', { name: evil }).waitFor();
  await page.getByText('terraform_data.a').first().waitFor();
  await page.getByRole('button', { name: 'Output', exact: true }).click();
  await page.getByLabel('Lines of the plan').getByText('onerror').first().waitFor();
  await page.getByLabel('Comment', { exact: true }).fill(evil);
  await page.getByRole('button', { name: 'Confirm & Apply' }).click();
  await page.getByRole('button', { name: 'Copy', exact: true }).first().waitFor();
  await page.locator('blockquote', { hasText: 'onerror' }).waitFor();
  const home = `/organizations/${organization}`;
  const project = await client.create(`${home}/projects`, 'projects', { name: newName('project'), description: evil });
  const set = { name: newName('set'), kind: 'opa', description: evil };
  const { id: policySet } = await client.create(`${home}/policy-sets`, 'policy-sets', set);
  for (const place of [
    `/app/${organization}/projects/${project.id}`,
    `/app/${organization}/settings/policy-sets`,
    `/app/${organization}/settings/policy-sets/${policySet}`,
    `/app/${organization}/workspaces/${workspace.attributes.name}`,
    `/app/${organization}/workspaces/${workspace.attributes.name}/variables`,
    `/app/${organization}/workspaces/${workspace.attributes.name}/runs`,
  ]) {
    await page.goto(place);
    await page.getByText('onerror').first().waitFor();
  }
  expect(await page.evaluate(() => (window as unknown as { hacked?: number }).hacked)).toBeUndefined();
  expect(await page.locator('img, script:not([src])').count()).toBe(0);
});

it('an address cannot inject content or actions', async () => {
  const page = await visit(`/app/${organization}/workspaces/${encodeURIComponent(evil)}`);
  await page.getByText('Workspace not found').waitFor();
  await page.goto(`/app/${organization}/nowhere/to/be/found`);
  await page.getByRole('heading', { name: 'Page not found' }).waitFor();
  expect(await page.evaluate(() => (window as unknown as { hacked?: number }).hacked)).toBeUndefined();
});
