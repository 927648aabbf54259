import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { operate } from '#test/e2e/support/operator.ts';
import { newWorkspace, startRun, untilConfirmable, untilFinal, untilUnlocked } from '#test/e2e/support/world.ts';
import { leaveState } from './support/operator.ts';
import { platform, runPath, visit } from './support/reader.ts';

it('the errored state of an apply is offered for download, with instructions', async () => {
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

  await untilUnlocked(workspace);
  await leaveState(run.id, workspace.id, '{"serial":7}');
  await page.reload();
  await page.getByText(`terraform state push ${run.id}-errored.tfstate`).waitFor();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download errored state' }).click(),
  ]);
  expect(file.suggestedFilename()).toBe(`${run.id}-errored.tfstate`);
  expect(await readFile(await file.path(), 'utf8')).toBe('{"serial":7}');

  // The workspace shows that it waits for the state, and an admin can continue without it.
  const waiting = await startRun(workspace, { 'main.tf': 'resource "terraform_data" "next" {}' });
  await page.goto(`${platform.url}${runPath(workspace.attributes.name, waiting.id)}`);
  await page.getByText('Waiting until the workspace is unlocked').waitFor();
  await page.goto(`${platform.url}${runPath(workspace.attributes.name, '').replace(/runs\/$/, 'runs')}`);
  await page.getByText(/Locked by run-\w+\./).waitFor();
  await page.getByText(/\(serial 7\) could not be saved to the workspace/).waitFor();
  await page.getByRole('button', { name: 'Force unlock' }).click();
  await untilConfirmable(waiting);
});
