import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { attachPolicy } from '#test/e2e/support/policies.ts';
import {
  newWorkspace,
  type Resource,
  resources,
  startRun,
  untilConfirmable,
  untilFinal,
  untilStatus,
} from '#test/e2e/support/world.ts';
import { client, newPage, runPath, signIn } from './support/reader.ts';

/** Repeated clicks in one place make at most one decision, even if another control appears there. */

const files = { 'main.tf': resources(['a']) };

const boxOf = async (locator: Locator) => {
  const box = await locator.boundingBox();
  if (!box) throw new Error('It is not on screen.');
  return box;
};

type Box = Awaited<ReturnType<typeof boxOf>>;
const areApart = (a: Box, b: Box): boolean =>
  a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;

/** Opens a page whose clock a test can stop: a busy machine must not turn quick clicks into slow ones. */
const open = async (path: string, options: BrowserContextOptions = {}): Promise<Page> => {
  const page = await newPage(options);
  await page.clock.install();
  await page.goto(path);
  await signIn(page);
  return page;
};

/** From now on the test advances the clock. */
const stopTime = async (page: Page): Promise<void> => {
  // Later than now, even on a busy machine.
  const settled = await page.evaluate(() => Date.now() + 30_000);
  await page.clock.pauseAt(settled);
};

/** Advances the clock until the element is visible, and at most 0.2 s more. */
const untilVisible = async (page: Page, locator: Locator): Promise<void> => {
  await expect
    .poll(async () => {
      await page.clock.runFor(100);
      return locator.isVisible();
    })
    .toBe(true);
};

const click = async (page: Page, { x, y, width, height }: Box, times: number, everyMs: number) => {
  for (let i = 0; i < times; i++) {
    await page.mouse.click(x + width / 2, y + height / 2);
    await page.clock.runFor(everyMs);
  }
};

const withFailedPolicy = async (level: 'soft-mandatory' | 'mandatory') => {
  const workspace = await newWorkspace();
  const policy = await attachPolicy(workspace, level, level === 'mandatory' ? { overridable: true } : {});
  const status = level === 'mandatory' ? 'post_plan_awaiting_decision' : 'policy_override';
  const run = await untilStatus(await startRun(workspace, files), status);
  return { workspace, policy, run, path: runPath(workspace.attributes.name, run.id) };
};

for (const [level, screen] of [
  ['soft-mandatory', { width: 1280, height: 900 }],
  ['mandatory', { width: 390, height: 844 }],
] as const) {
  it(`a ${level} policy is overridden elsewhere than a run is confirmed, at ${screen.width} pixels`, async () => {
    const { run, path } = await withFailedPolicy(level);
    const page = await open(path, { viewport: screen });
    await page.getByLabel('Reason').fill('agreed');
    const confirm = page.getByRole('button', { name: 'Confirm & Apply' });
    expect(await confirm.count()).toBe(0);
    const override = page.getByRole('button', { name: 'Override policies' });
    await override.scrollIntoViewIfNeeded();
    await stopTime(page);
    const place = await boxOf(override);
    await click(page, place, 4, 500);
    await untilVisible(page, confirm);
    expect(areApart(place, await boxOf(confirm))).toBe(true);
    await untilVisible(page, page.getByText('overridden', { exact: true }).first());
    await click(page, place, 4, 1_500);
    const { attributes } = await client.run(run.id);
    expect(attributes.actions['is-confirmable']).toBe(true);
    await client.act(run.id, 'discard');
  });
}

/** With a resource. */
let applied: Resource;

it('a button whose meaning has just changed is inert until a second without clicks', async () => {
  const { workspace, policy, run, path } = await withFailedPolicy('soft-mandatory');
  const page = await open(path);
  await page.getByLabel('Reason').waitFor();
  await stopTime(page);
  const check = `/policy-checks/${run.id.replace('run-', 'polchk-')}/actions/override`;
  // Another user overrides, and the user clicks where the confirmation appears.
  await client.call('POST', check, { comment: 'by another' });
  const confirm = page.getByRole('button', { name: 'Confirm & Apply' });
  await untilVisible(page, confirm);
  const presses = [
    async () => click(page, await boxOf(confirm), 1, 0),
    () => page.keyboard.press('Enter'),
    () => page.keyboard.press('Space'),
  ];
  await confirm.focus();
  for (const press of [...presses, ...presses]) {
    expect(await confirm.getAttribute('aria-disabled')).toBe('true');
    await press();
    await page.clock.runFor(800);
  }
  expect((await client.run(run.id)).attributes.actions['is-confirmable']).toBe(true);
  // After a second without clicks, the click decides.
  await page.clock.runFor(200);
  expect(await confirm.getAttribute('aria-disabled')).toBe('false');
  await page.keyboard.press('Enter');
  expect((await untilFinal(run)).attributes.status).toBe('applied');
  await client.call('DELETE', `/policy-sets/${policy.id}`);
  applied = workspace;
});

it('repeated clicks do not confirm a dialog that appears under the pointer', async () => {
  const run = await untilConfirmable(await client.createRun(applied.id, { 'is-destroy': true }));
  const page = await open(runPath(applied.attributes.name, run.id));
  const confirm = page.getByRole('button', { name: 'Confirm & Apply' });
  await confirm.waitFor();
  await stopTime(page);
  await confirm.click();
  const dialog = page.getByRole('dialog');
  const yes = dialog.getByRole('button', { name: 'Confirm & Apply' });
  await untilVisible(page, yes);
  await click(page, await boxOf(yes), 5, 400);
  await yes.focus();
  for (const key of ['Enter', 'Space', 'Enter']) {
    await page.keyboard.press(key);
    await page.clock.runFor(800);
  }
  await dialog.getByText('This destroys 1 resource').waitFor();
  expect((await client.run(run.id)).attributes.status).toBe('planned');
  await page.clock.runFor(200);
  await page.keyboard.press('Enter');
  expect((await untilFinal(run)).attributes.status).toBe('applied');
});
