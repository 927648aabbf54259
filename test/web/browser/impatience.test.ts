import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { attachPolicy } from '../../e2e/support/policies.ts';
import {
  newWorkspace,
  resources,
  startRun,
  untilConfirmable,
  untilFinal,
  untilStatus,
} from '../../e2e/support/world.ts';
import { client, runPath, visit } from './support/reader.ts';

/** Whoever presses again and again in one place decides once, whatever comes under the pointer meanwhile. */

const files = { 'main.tf': resources(['a']) };

const boxOf = async (locator: Locator) => {
  const box = await locator.boundingBox();
  if (!box) throw new Error('It is not on screen.');
  return box;
};

type Box = Awaited<ReturnType<typeof boxOf>>;
const areApart = (a: Box, b: Box): boolean =>
  a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;

/** By the page's own clock, so that a busy machine does not make a patient reader of an impatient one. */
const click = (page: Page, { x, y, width, height }: Box, times: number, everyMs: number) =>
  page.evaluate(
    async ({ left, top, n, ms }) => {
      for (let i = 0; i < n; i++) {
        (document.elementFromPoint(left, top) as HTMLElement | null)?.click();
        await new Promise((resolve) => setTimeout(resolve, ms));
      }
    },
    { left: x + width / 2, top: y + height / 2, n: times, ms: everyMs },
  );

const withFailedPolicy = async (level: 'soft-mandatory' | 'mandatory') => {
  const workspace = await newWorkspace();
  await attachPolicy(workspace, level, level === 'mandatory' ? { overridable: true } : {});
  const status = level === 'mandatory' ? 'post_plan_awaiting_decision' : 'policy_override';
  const run = await untilStatus(await startRun(workspace, files), status);
  return { run, path: runPath(workspace.attributes.name, run.id) };
};

for (const level of ['soft-mandatory', 'mandatory'] as const) {
  for (const screen of [
    { width: 1280, height: 900 },
    { width: 390, height: 844 },
  ]) {
    it(`a ${level} policy is overridden elsewhere than a run is confirmed, at ${screen.width} pixels`, async () => {
      const { run, path } = await withFailedPolicy(level);
      const page = await visit(path, { viewport: screen });
      expect(await page.getByRole('button', { name: 'Confirm & Apply' }).count()).toBe(0);
      await page.getByLabel('Reason').fill('agreed');
      const override = page.getByRole('button', { name: 'Override policies' });
      await override.scrollIntoViewIfNeeded();
      await page.locator('button.settling').first().waitFor({ state: 'detached' });
      const place = await boxOf(override);
      await click(page, place, 4, 500);
      const confirm = page.getByRole('button', { name: 'Confirm & Apply' });
      await confirm.waitFor();
      expect(areApart(place, await boxOf(confirm))).toBe(true);
      const { attributes } = await client.run(run.id);
      expect(attributes.actions['is-confirmable']).toBe(true);
      await client.act(run.id, 'discard');
    });
  }
}

it('what has just come to mean something else is inert until nobody has pressed for a second', async () => {
  const { run, path } = await withFailedPolicy('soft-mandatory');
  const page = await visit(path);
  await page.getByLabel('Reason').waitFor();
  const check = `/policy-checks/${run.id.replace('run-', 'polchk-')}/actions/override`;
  // Somebody else overrides, and the reader presses where the confirmation comes.
  await client.call('POST', check, { comment: 'by another' });
  const confirm = page.getByRole('button', { name: 'Confirm & Apply' });
  await confirm.waitFor();
  expect(await confirm.getAttribute('aria-disabled')).toBe('true');
  await click(page, await boxOf(confirm), 6, 500);
  expect((await client.run(run.id)).attributes.actions['is-confirmable']).toBe(true);
  // Whoever has looked for a second decides.
  await confirm.click();
  expect((await untilFinal(run)).attributes.status).toBe('applied');
});

it('a dialog that comes under the pointer is not answered by the same clicks', async () => {
  const workspace = await newWorkspace();
  await untilFinal(await startRun(workspace, files, { 'auto-apply': true }));
  const run = await untilConfirmable(await client.createRun(workspace.id, { 'is-destroy': true }));
  const page = await visit(runPath(workspace.attributes.name, run.id));
  await page.getByRole('button', { name: 'Confirm & Apply' }).click();
  const yes = page.getByRole('dialog').getByRole('button', { name: 'Confirm & Apply' });
  await click(page, await boxOf(yes), 5, 400);
  await page.getByRole('dialog').getByText('This destroys 1 of').waitFor();
  expect((await client.run(run.id)).attributes.status).toBe('planned');
  await client.act(run.id, 'discard');
});
