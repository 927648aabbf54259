import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { operate } from '../../e2e/support/operator.ts';
import { newWorkspace, startRun, untilFinal } from '../../e2e/support/world.ts';
import { leaveState } from './support/operator.ts';
import { platform, runPath, visit } from './support/reader.ts';

it('the state that an apply could not store is handed out, with what to do with it', async () => {
  operate(platform);
  const workspace = await newWorkspace({ 'auto-apply': true });
  const failing = `resource "terraform_data" "bad" {
  provisioner "local-exec" {
    command = "exit 3"
  }
}`;
  const run = await untilFinal(await startRun(workspace, { 'main.tf': failing }));
  const page = await visit(runPath(workspace.attributes.name, run.id));
  await page.getByRole('heading', { name: 'Apply' }).waitFor();
  expect(await page.getByRole('button', { name: 'errored state' }).count()).toBe(0);

  await leaveState(run.id, workspace.id, '{"serial":7}');
  await page.reload();
  await page.getByText(`terraform state push ${run.id}-errored.tfstate`).waitFor();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download the errored state' }).click(),
  ]);
  expect(file.suggestedFilename()).toBe(`${run.id}-errored.tfstate`);
  expect(await readFile(await file.path(), 'utf8')).toBe('{"serial":7}');
});
