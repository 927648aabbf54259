import { beforeAll, expect, it } from 'vitest';
import { operate } from '#test/e2e/support/operator.ts';
import {
  newName,
  newWorkspace,
  type Resource,
  resources,
  startRun,
  untilConfirmable,
  untilFinal,
} from '#test/e2e/support/world.ts';
import { enlarge } from './support/operator.ts';
import { client, organization, platform, runPath, visit } from './support/reader.ts';

/** Navigation: to a line, back to a place in a list, away from a missing page. */

let workspace: Resource;
/** Waits for its confirmation. */
let run: Resource;
beforeAll(async () => {
  workspace = await newWorkspace();
  run = await untilConfirmable(await startRun(workspace, { 'main.tf': resources(['a', 'b', 'c', 'd']) }));
});

it('the scroll position in a list of workspaces is restored', async () => {
  const common = newName('many');
  await Promise.all(
    Array.from({ length: 70 }, (_, i) =>
      client.create(`/organizations/${organization}/workspaces`, 'workspaces', { name: `${common}-${i}` }),
    ),
  );
  const page = await visit(`/app/${organization}/workspaces?search=${common}&sort=name`);
  const last = page.getByRole('link', { name: `${common}-65` });
  await page.getByRole('button', { name: 'Show all' }).or(last).first().scrollIntoViewIfNeeded();
  await last.scrollIntoViewIfNeeded();
  await last.click();
  await page.getByRole('heading', { name: `${common}-65` }).waitFor();
  await expect.poll(() => page.evaluate(() => scrollY)).toBe(0);
  await page.goBack();
  await expect.poll(() => last.isVisible()).toBe(true);
  await expect
    .poll(() => last.evaluate((element) => element.getBoundingClientRect().top < innerHeight && scrollY > 500))
    .toBe(true);
});

it('a missing run has a heading and a link to the organizations', async () => {
  const page = await visit(`/app/${organization}/workspaces/nowhere/runs/run-0000000000000000`);
  await page.getByRole('heading', { name: 'Run not found' }).waitFor();
  await page.getByRole('link', { name: 'See your organizations' }).click();
  await page.getByRole('heading', { name: 'Organizations' }).waitFor();
});

it('a missing workspace leads to those of its organization, unless that is hidden too', async () => {
  const page = await visit(`/app/${organization}/workspaces/nowhere`);
  await page.getByRole('heading', { name: 'Workspace not found' }).waitFor();
  await page.getByRole('link', { name: `See the workspaces of ${organization}` }).click();
  await page.getByRole('heading', { name: 'Workspaces' }).waitFor();
  const asked = page.waitForResponse((response) => response.url().endsWith('/api/v2/organizations/strangers'));
  await page.goto('/app/strangers/workspaces/nowhere');
  await page.getByRole('heading', { name: 'Workspace not found' }).waitFor();
  expect((await asked).status()).toBe(404);
  expect(await page.getByRole('link', { name: 'See the workspaces' }).count()).toBe(0);
});

it('a hidden organization has one main heading', async () => {
  const page = await visit('/app/strangers/workspaces');
  await page.getByRole('heading', { name: 'Workspaces of strangers not found', level: 2 }).waitFor();
  expect(await page.getByRole('heading', { level: 1 }).allInnerTexts()).toEqual(['Workspaces']);
});

it('on a phone all buttons of a variable list are on screen', async () => {
  await client.setVariable(workspace.id, { key: 'a_rather_long_name_of_a_variable', value: 'x'.repeat(400) });
  const page = await visit(`/app/${organization}/workspaces/${workspace.attributes.name}/variables`, {
    viewport: { width: 390, height: 844 },
  });
  for (const name of ['Edit', 'Delete']) {
    const box = await page.getByRole('button', { name: new RegExp(`^${name} `) }).boundingBox();
    expect(box && box.x >= 0 && box.x + box.width <= 390, name).toBe(true);
  }
});

it('on a phone the decision bar leaves room for the plan and is not printed, and links are large enough to tap', async () => {
  const page = await visit(runPath(workspace.attributes.name, run.id), { viewport: { width: 390, height: 844 } });
  await page.getByRole('button', { name: 'Confirm & Apply' }).waitFor();
  const bar = await page.locator('.act.at-hand').boundingBox();
  expect(bar?.height).toBeLessThan(844 / 5);
  const address = page.getByText('terraform_data.a', { exact: true }).filter({ visible: true });
  await address.first().waitFor();
  await page.emulateMedia({ media: 'print' });
  expect(await page.locator('.act.at-hand, .top, main button, main textarea').filter({ visible: true }).count()).toBe(
    0,
  );
  expect(await address.count()).toBeGreaterThan(0);
  await page.emulateMedia({ media: 'screen' });
  await page.goto(`/app/${organization}/workspaces/${workspace.attributes.name}/runs`);
  const entry = page.getByRole('main').getByRole('listitem').getByRole('link').first();
  await entry.waitFor();
  const links = await page
    .getByRole('link')
    .evaluateAll((all) => all.map((one) => one.getBoundingClientRect()).filter(({ width }) => width > 1))
    .then((boxes) => boxes.map(({ height }) => height));
  expect(Math.min(...links)).toBeGreaterThanOrEqual(24);
});

it('a linked or found log line is scrolled into view, not behind the decision bar', async () => {
  operate(platform);
  await enlarge(run.id, { lines: 3_000, resources: 1 });
  const page = await visit(`${runPath(workspace.attributes.name, run.id)}#plan-1500`);
  const aimed = page.locator('.log .aimed');
  await aimed.getByText('line 1500 of a').waitFor();
  // In the page that is already open.
  await page.evaluate(() => location.assign('#plan-2500'));
  await aimed.getByText('line 2500 of a').waitFor();
  await page.getByLabel('Search the output of the plan').fill('line 700 of');
  await aimed.getByText('line 700 of a').waitFor();
  const isSeen = () =>
    aimed.evaluate((line) => {
      const { left, top, height } = line.getBoundingClientRect();
      return document.elementFromPoint(left + 200, top + height / 2)?.closest('.line') === line;
    });
  await expect.poll(isSeen).toBe(true);
});

it('on a phone every view can be found by name', async () => {
  const page = await visit(`/app/${organization}/overview`, {
    viewport: { width: 390, height: 844 },
    isMobile: true,
    hasTouch: true,
  });
  await page.getByRole('button', { name: 'Go to …' }).tap();
  await page.getByRole('combobox').fill('tokens');
  await page.getByRole('option', { name: /^Your tokens/ }).tap();
  await page.getByRole('heading', { name: 'API tokens' }).waitFor();
});

it('a low window shows the heading of a view and its entry in the side bar', async () => {
  const page = await visit(`/app/${organization}/settings/audit-trail`, { viewport: { width: 1100, height: 480 } });
  await page.getByRole('list', { name: 'Events' }).getByRole('listitem').first().waitFor();
  expect(await page.evaluate(() => scrollY)).toBe(0);
  const link = page.getByRole('navigation', { name: 'Organization' }).getByRole('link', { name: 'Audit trail' });
  const box = await link.boundingBox();
  expect(box && box.y >= 0 && box.y + box.height <= 480).toBe(true);
});

it('on a phone long names and lines of an error wrap, and the current tab is visible', async () => {
  const name = newName('a-workspace-whose-name-is-much-too-long-for-a-line-of-a-phone');
  const workspace = await client.createWorkspace(organization, name);
  const text = 'a sentence that is much too long for a line of a phone '.repeat(4);
  const main = `resource "terraform_data" "a" {\n  lifecycle {\n    precondition {\n      condition = var.no\n      error_message = "${text}"\n    }\n  }\n}\nvariable "no" {\n  type    = bool\n  default = false\n}`;
  const message = 'The subject of a commit\n\nIts body';
  const run = await untilFinal(await startRun(workspace, { 'main.tf': main }, { message }));
  const page = await visit(`/app/${organization}/workspaces/${name}/settings`, {
    viewport: { width: 390, height: 844 },
  });
  const tab = page.getByRole('navigation', { name: 'Workspace' }).getByRole('link', { name: 'Settings' });
  const box = await tab.boundingBox();
  expect(box && box.x >= 0 && box.x + box.width <= 390).toBe(true);
  const crumb = page.getByRole('navigation', { name: 'You are here' }).getByText(name);
  const owner = page.getByRole('navigation', { name: 'You are here' }).getByRole('link', { name: organization });
  const [above, below] = [await owner.boundingBox(), await crumb.boundingBox()];
  expect(above && below && above.x + above.width <= below.x).toBe(true);
  expect(await owner.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
  await page.goto(`/app/${organization}/settings/audit-trail`);
  await page.getByRole('list', { name: 'Events' }).getByRole('link', { name }).first().waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await page.goto(runPath(name, run.id));
  await page.getByRole('heading', { name: 'The subject of a commit', exact: true }).waitFor();
  await page.getByText('Its body', { exact: true }).waitFor();
  const log = page.getByLabel('Lines of the plan');
  await log.getByText('a sentence that').first().waitFor();
  expect(await log.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
});
