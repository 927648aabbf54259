import { expect, it } from 'vitest';
import { attachPolicy } from '#test/e2e/support/policies.ts';
import { client, newWorkspace, resources, startRun, untilFinal, untilStatus } from '#test/e2e/support/world.ts';
import { organization, runPath, visit } from './support/reader.ts';

const files = { 'main.tf': resources(['a']) };
const hostile = `deny contains "<img src=x onerror=alert(1)> is public" if true
deny contains {"msg": "second", "address": "a.b"} if true`;

const panelOf = (page: Awaited<ReturnType<typeof visit>>, title: string) =>
  page.locator('details', { has: page.getByRole('heading', { name: title, exact: true }) });

it('a run without policies does not mention them', async () => {
  const workspace = await newWorkspace();
  const run = await startRun(workspace, files, { 'plan-only': true });
  const page = await visit(runPath(workspace.attributes.name, run.id));
  await page.getByRole('heading', { name: 'Plan' }).waitFor();
  expect(await page.getByRole('heading', { name: /Polic/ }).count()).toBe(0);
});

it('a policy check shows the failed rule, its reason, and the override with its comment', async () => {
  const workspace = await newWorkspace();
  await attachPolicy(workspace, 'soft-mandatory', { rule: hostile });
  const run = await untilStatus(await startRun(workspace, files), 'policy_override');
  const page = await visit(runPath(workspace.attributes.name, run.id));
  const panel = panelOf(page, 'Policy check');
  await panel.getByText('failed, can be overridden').waitFor();
  await panel.getByText('1 failed', { exact: true }).waitFor();
  await panel.getByText('<img src=x onerror=alert(1)> is public').waitFor();
  await panel.getByText('second', { exact: true }).waitFor();
  await panel.getByText('data.terraform.sizes.deny').waitFor();
  expect(await panel.locator('img').count()).toBe(0);
  await page.getByText('Policies failed: override them above, or discard the run').waitFor();
  const override = panel.getByRole('button', { name: 'Override policies' });
  expect(await override.isDisabled()).toBe(true);
  await panel.getByLabel('Reason').fill('agreed with security');
  await override.click();
  await panel.getByText('overridden', { exact: true }).waitFor();
  await panel.getByText(/Overridden by \S+ .*: agreed with security/).waitFor();
  await page.getByRole('button', { name: 'Confirm & Apply' }).waitFor();
  await client.act(run.id, 'discard');
});

it('a policy that cannot be evaluated shows the reason, and the status of its run leads to it', async () => {
  const workspace = await newWorkspace();
  await attachPolicy(workspace, 'mandatory', { rule: 'deny := 5' });
  const run = await untilFinal(await startRun(workspace, files));
  const page = await visit(`${runPath(workspace.attributes.name, run.id)}#failed`);
  const panel = panelOf(page, 'Policies');
  await panel.getByText('Evaluation failed').waitFor();
  await expect.poll(() => new URL(page.url()).hash).toBe('#policy-evaluation');
  await panel.getByRole('heading', { name: 'Policies' }).click();
  await expect.poll(() => panel.getAttribute('open')).toBe(null);
  await page.getByRole('link', { name: 'Plan Errored · policy check' }).click();
  await panel.getByText(/data\.terraform\.sizes\.deny returned a number; return a set or a list/).waitFor();

  // The explorer names the step that failed, too.
  const { name } = workspace.attributes;
  const filters = JSON.stringify([{ field: 'workspace_name', operator: 'is', value: name }]);
  await page.goto(`/app/${organization}/explorer?filters=${encodeURIComponent(filters)}`);
  await page.getByRole('link', { name: 'Plan Errored · policy check' }).click();
  await expect.poll(() => new URL(page.url()).hash).toBe('#policy-evaluation');
});
