import { expect, it } from 'vitest';
import { client, newWorkspace, startRun, untilConfirmable, untilFinal } from '#test/e2e/support/world.ts';
import { organization, runPath, seesStatus, visit } from './support/reader.ts';

/** The resources of a workspace, their dependencies, and the effects of a plan. */

const policy = (effect: string) => `resource "terraform_data" "policy" {
  input = jsonencode({ Version = "1", Statement = [for i in range(9) : { Sid = "s\${i}", Effect = i == 4 ? "${effect}" : "Allow" }] })
}`;
const node = 'resource "terraform_data" "node" {\n  input = terraform_data.policy.id\n}';
const extra = (name: string) => `resource "terraform_data" "${name}" {}`;

it('a resource links to its dependencies and its changes; a plan shows the riskiest changes first', async () => {
  const workspace = await newWorkspace();
  const { name } = workspace.attributes;
  const first = { 'main.tf': [policy('Deny'), node, extra('gone')].join('\n') };
  const applied = await untilFinal(await startRun(workspace, first, { 'auto-apply': true }));
  expect(applied.attributes.status).toBe('applied');
  const second = { 'main.tf': [policy('Permit'), node, extra('added')].join('\n') };
  const waiting = await untilConfirmable(await startRun(workspace, second));

  const page = await visit(runPath(name, waiting.id));
  const addresses = page.getByRole('region', { name: 'resources', exact: true }).locator('.address');
  await addresses.first().waitFor();
  await expect
    .poll(() => addresses.allInnerTexts())
    .toEqual(['terraform_data.gone', 'terraform_data.policy', 'terraform_data.added']);
  const row = page.getByRole('row', { name: /^input / });
  await expect.poll(() => row.locator('mark').allInnerTexts()).toEqual(['Deny', 'Permit']);
  await row
    .getByText(/unchanged lines/)
    .first()
    .waitFor();
  await page.getByRole('button', { name: 'Graph' }).click();
  await page.getByRole('button', { name: 'terraform_data.policy' }).click();
  await page.locator('.resource.aimed', { hasText: 'terraform_data.policy' }).waitFor();
  expect(new URL(page.url()).hash).toBe('#change-terraform_data.policy');
  await client.call('POST', `/runs/${waiting.id}/actions/apply`, {});
  await seesStatus(page, 'Applied');

  await page.goto(`/app/${organization}/workspaces/${name}/resources`);
  await page.getByRole('row', { name: /terraform_data.added .* run$/ }).waitFor();
  await page.getByLabel('Search resources').fill('policy');
  await page.getByRole('button', { name: 'terraform_data.policy', exact: true }).click();
  const details = page.getByRole('region', { name: 'Resource terraform_data.policy' });
  await details.getByRole('button', { name: 'terraform_data.node' }).waitFor();
  const runs = details.getByRole('list', { name: 'History' }).getByRole('link', { name: 'run', exact: true });
  // The history loads separately.
  await expect
    .poll(() => runs.evaluateAll((links) => links.map((link) => link.getAttribute('href'))))
    .toEqual([runPath(name, waiting.id), runPath(name, applied.id)]);
  await details.getByRole('link', { name: 'What changed' }).first().click();
  await page.locator('.resource.aimed', { hasText: 'terraform_data.policy' }).waitFor();
});
