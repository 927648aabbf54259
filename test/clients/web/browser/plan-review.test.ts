import { expect, it } from 'vitest';
import { newWorkspace, resources, startRun, untilConfirmable, untilFinal } from '#test/e2e/support/world.ts';
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
  expect(await row.locator('mark').allInnerTexts()).toEqual(['before', 'after']);
  await row
    .getByText(/unchanged lines/)
    .first()
    .waitFor();
  expect(await row.getByText('step 0 same').count()).toBe(0);
  await change.getByLabel('Show all lines').check();
  expect(await row.getByText('step 0 same').count()).toBe(2);
  if (process.env.SCREENSHOTS) await picture(page, process.env.SCREENSHOTS, 'plan-review');
  const link = await change.getByRole('link', { name: 'Link to this change' }).getAttribute('href');
  // The link unfolds the change in another tab.
  const other = await visit(`${path}${link}`);
  await other.locator('.resource.aimed[open]', { hasText: 'terraform_data.script' }).waitFor();
  expect(await other.locator('.resource[open]').count()).toBe(1);
  await client.act(run.id, 'discard');
});
