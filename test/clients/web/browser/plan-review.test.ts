import { expect, it } from 'vitest';
import { newWorkspace, resources, startRun, untilConfirmable, untilFinal } from '#test/e2e/support/world.ts';
import { wrongWith } from './support/accessibility.ts';
import { client, runPath, visit } from './support/reader.ts';
import { picture } from './support/views.ts';

/** A plan in the view of a reviewer. */

const text = (word: string) =>
  `resource "terraform_data" "script" {\n  input = <<-EOT\n${Array.from({ length: 12 }, (_, i) => `    step ${i} ${i === 6 ? word : 'same'}`).join('\n')}\n  EOT\n}`;

it('changes in multi-line text are marked, unchanged lines hidden, and one change can be linked to', async () => {
  const workspace = await newWorkspace();
  const first = await startRun(workspace, { 'main.tf': text('before') }, { 'auto-apply': true });
  expect((await untilFinal(first)).attributes.status).toBe('applied');
  // With so many changes, the plan shows them folded.
  const more = resources(['a', 'b', 'c', 'd', 'e', 'f']);
  const run = await untilConfirmable(await startRun(workspace, { 'main.tf': `${text('after')}\n${more}` }));
  const path = runPath(workspace.attributes.name, run.id);
  const page = await visit(path);
  const change = page.locator('.resource', { hasText: 'terraform_data.script' });
  await change.locator('summary').click();
  const row = change.getByRole('row', { name: /^input / });
  await expect.poll(() => row.locator('mark').allInnerTexts()).toEqual(['before', 'after']);
  await row
    .getByText(/unchanged lines/)
    .first()
    .waitFor();
  expect(await row.getByText('step 0 same').count()).toBe(0);
  await change.getByLabel('Show all lines').check();
  await expect.poll(() => row.getByText('step 0 same').count()).toBe(2);
  if (process.env.SCREENSHOTS) await picture(page, process.env.SCREENSHOTS, 'plan-review');
  const link = await change.getByRole('link', { name: 'Link to this change' }).getAttribute('href');
  // The link unfolds the change in another tab.
  const other = await visit(`${path}${link}`);
  await other.locator('.resource.aimed[open]', { hasText: 'terraform_data.script' }).waitFor();
  expect(await other.locator('.resource[open]').count()).toBe(1);
  await client.act(run.id, 'discard');
});

it('a plan is folded by module, filtered, and compared with the plan of another run', async () => {
  const workspace = await newWorkspace();
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'p'];
  const files = (more: string) => ({
    'main.tf': `module "left" {\n  source = "./part"\n}\nmodule "right" {\n  source = "./part"\n}\n${more}`,
    'part/main.tf': resources(names),
  });
  const other = await startRun(workspace, files(''), { 'plan-only': true, message: 'Before the commit' });
  await untilFinal(other);
  const run = await startRun(workspace, files(resources(['extra'])), { 'plan-only': true });
  await untilFinal(run);
  const page = await visit(runPath(workspace.attributes.name, run.id));
  await page.getByRole('heading', { name: 'Plan', exact: true }).click();
  const list = page.getByRole('region', { name: 'resources', exact: true });
  await list.getByRole('button', { name: /^module\.left/ }).waitFor();
  expect(await list.locator('.resource').count()).toBe(0);
  await list.getByRole('button', { name: /^module\.right/ }).click();
  await expect.poll(() => list.locator('.resource').count()).toBe(names.length);
  await list.getByRole('button', { name: /^module\.right/ }).click();
  // A filter unfolds the modules with matches; those that the user has folded stay folded.
  await list.getByLabel('Search resources').fill('terraform_data.p');
  await expect.poll(() => list.locator('.resource').allInnerTexts()).toEqual([expect.stringContaining('module.left')]);

  await page.getByRole('button', { name: 'Compare' }).click();
  await page.getByText('1 change only in this plan').waitFor();
  await page.getByRole('region', { name: 'changes only in this plan' }).getByText('terraform_data.extra').waitFor();
  expect(await page.getByLabel('Compare with').locator('option').allInnerTexts()).toEqual([
    expect.stringContaining('Before the commit'),
  ]);
  // The comparison can be linked to.
  await page.goto(`${runPath(workspace.attributes.name, other.id)}?compare=${run.id}`);
  await page.getByRole('heading', { name: 'Plan', exact: true }).click();
  await page.getByText('1 change only in the other plan').waitFor();
  expect(await wrongWith(page, 'comparison')).toEqual([]);
});
