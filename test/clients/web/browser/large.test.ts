import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { operate } from '#test/e2e/support/operator.ts';
import { newName, newWorkspace, resources, startRun, untilConfirmable, untilFinal } from '#test/e2e/support/world.ts';
import { longestFrame, waitAfter } from './support/measure.ts';
import { enlarge } from './support/operator.ts';
import { client, platform, runPath, visit } from './support/reader.ts';

/** Large content stays fast. The limits are generous, for busy machines; the bench has the figures. */

const lines = 100_000;
let path: string;
/** A run whose plan failed. */
let failed: string;

beforeAll(async () => {
  operate(platform);
  const [workspace, other] = [await newWorkspace(), await newWorkspace()];
  const run = await untilConfirmable(await startRun(workspace, { 'main.tf': resources(['a']) }));
  await enlarge(run.id, { lines, resources: 2_000 });
  path = runPath(workspace.attributes.name, run.id);
  const broken = await untilFinal(await startRun(other, { 'main.tf': 'output "a" { value = nothing.here }' }));
  await enlarge(broken.id, { lines, resources: 1, ending: ['╷', '│ Error: No such reference', '╵', ''] });
  failed = runPath(other.attributes.name, broken.id);
});

/** Counts the bytes of logs of a phase that are read from now on, and of their responses. */
const countLogBytes = (page: Page, phase = 'plan'): { read: number; sent: number } => {
  const counted = { read: 0, sent: 0 };
  page.on('response', async (response) => {
    if (!new URL(response.url()).pathname.match(`/logs/.*/${phase}/`)) return;
    counted.sent += Number(response.headers()['content-length']);
    const { length } = await response.body();
    counted.read += length;
  });
  return counted;
};

const part = 262_144;
const visibleLines = (page: Page) => page.locator('.log .line');

describe('a log of 100,000 lines', () => {
  it('is read as far as it is looked at', async () => {
    const page = await visit(path);
    const counted = countLogBytes(page);
    await page.getByRole('button', { name: 'Output', exact: true }).click();
    await page.getByText('First 262.1 KB of 7.3 MB').waitFor();
    await visibleLines(page).getByText('line 1 of a').waitFor();
    await expect.poll(() => counted.read).toBe(part);
    expect(counted.sent).toBeLessThan(part / 4);

    await page.locator('.log').evaluate((log) => log.scrollTo(0, log.scrollHeight));
    await page.getByText('First 524.3 KB of 7.3 MB').waitFor();

    await page.getByRole('button', { name: 'Jump to end' }).click();
    await visibleLines(page).getByText('line 100000 of a').waitFor();
    await page.getByText('Last 262.1 KB of 7.3 MB').waitFor();
    await page.getByLabel('Line 2 from the end').click();
    expect(new URL(page.url()).hash).toBe('#plan--2');
    await page.locator('.line.aimed', { hasText: 'line 99999 of a' }).waitFor();
    // Lines above are added without a move of those on screen.
    await page.locator('.log').evaluate((log) => log.scrollTo(0, 100));
    await page.getByText('Last 524.3 KB of 7.3 MB').waitFor();
    await page.getByLabel('Line 3580 from the end').waitFor();
    await expect.poll(() => counted.read).toBe(4 * part);
  });

  it('of a failed plan opens at its error, without the lines before', async () => {
    const page = await visit('/');
    const counted = countLogBytes(page);
    await page.goto(failed);
    await page.locator('.line.aimed', { hasText: 'Error: No such reference' }).waitFor();
    // The first part has the size.
    await expect.poll(() => counted.read).toBeGreaterThanOrEqual(2 * part);
    expect(counted.read).toBeLessThan(3 * part);
    const scroll = (to: 'top' | 'end') =>
      page.locator('.log').evaluate((log, place) => log.scrollTo(0, place === 'top' ? 0 : log.scrollHeight), to);
    // Until then the page has not scrolled to the error, and a scroll to the top changes nothing.
    await expect.poll(() => page.locator('.log').evaluate((log) => log.scrollTop)).toBeGreaterThan(0);
    await scroll('top');
    await page.getByText('Last 524.3 KB of 7.3 MB').waitFor();
    await scroll('end');
    await page.locator('.line.aimed', { hasText: 'Error: No such reference' }).waitFor();
  });

  it('is searched, even before anything was read, scrolled and folded without freezing, with few rows rendered', async () => {
    const page = await visit('/');
    const typed = Promise.withResolvers<void>();
    await page.route(/\/logs\//, async (request) => {
      await typed.promise;
      await request.continue();
    });
    await page.goto(path);
    await page.getByRole('button', { name: 'Output', exact: true }).click();
    const search = page.getByLabel('Search the output of the plan');
    const found = await waitAfter(
      page,
      async () => {
        await search.fill('line 99999 of');
        typed.resolve();
      },
      () => document.querySelector('.line.aimed') !== null,
    );
    expect(found).toBeLessThan(60_000);
    await page.locator('.log-bar').getByText('100,000 lines').waitFor();
    expect(await visibleLines(page).count()).toBeLessThan(200);
    await search.press('Enter');
    await page.locator('.line.aimed', { hasText: 'line 99999 of a long log' }).waitFor();
    // A line can be linked to without a mouse, too.
    expect(new URL(page.url()).hash).toBe('#plan-99999');
    expect(await page.locator('.log mark').count()).toBe(1);

    expect(await longestFrame(page, '.log')).toBeLessThan(2_000);
    await page.locator('.log').getByText('line 100000 of').waitFor();

    await page.getByRole('button', { name: 'Fold by resource' }).click();
    const fold = page.getByRole('button', { name: 'terraform_data.x, 100000 lines' });
    await fold.waitFor();
    expect(await visibleLines(page).count()).toBe(1);
    expect(await fold.getAttribute('aria-expanded')).toBe('false');
    // The search finds lines in folded groups.
    await search.fill('line 54321 of');
    await search.press('Enter');
    await page.locator('.line.aimed', { hasText: 'line 54321 of a long log' }).waitFor();
  });

  it('can be linked to by line, from its beginning and from its end', async () => {
    const page = await visit(`${path}#plan-5432`);
    await page.locator('.line.aimed', { hasText: 'line 5432 of' }).waitFor();
    await page.getByLabel('Line 5431', { exact: true }).click();
    await page.waitForURL(/#plan-5431$/);
    const other = await visit(`${path}#plan--5000`);
    await other.locator('.line.aimed', { hasText: 'line 95001 of' }).waitFor();
    await other.getByText('Last 524.3 KB of 7.3 MB').waitFor();
  });
});

describe('a long log that grows', () => {
  const words = `resource "terraform_data" "x" {
  provisioner "local-exec" {
    command = "seq -f 'line %.0f of a long log' 8000; for i in $(seq 400); do echo later $i; sleep 0.5; done"
  }
}`;

  it('is read from its end, followed, searched, linked to by line and saved', async () => {
    const workspace = await newWorkspace({ 'auto-apply': true });
    const run = await startRun(workspace, { 'main.tf': words });
    await client.waitForRun(run.id, ({ attributes }) => attributes.status === 'applying');
    const page = await visit('/');
    const counted = countLogBytes(page, 'apply');
    const applying = runPath(workspace.attributes.name, run.id);
    // The log is long before the page is opened.
    const apply = await client.phase(run, 'apply');
    const log = new URL(apply.attributes['log-read-url']);
    const written = async () => {
      const size = Number((await fetch(`${log}?limit=100000`)).headers.get('x-log-size') ?? 0);
      return size && (await fetch(`${log}?offset=${size - 1000}`)).text();
    };
    await expect.poll(written, { timeout: 60_000 }).toContain('later 1');
    await page.goto(applying);
    await visibleLines(page)
      .getByText(/later \d+$/)
      .last()
      .waitFor();
    await page.getByText(/^Last .* of /).waitFor();
    expect(counted.read).toBeLessThan(3 * part);
    const last = page.locator('.log .line').last();
    const before = await last.innerText();
    await expect.poll(() => last.innerText()).not.toBe(before);

    // Lines above are added without a move of those on screen, and the end stays where it is.
    const box = page.locator('.log');
    await box.evaluate((element) => element.scrollTo(0, 100));
    await page.getByRole('button', { name: 'Follow output' }).waitFor();
    await expect.poll(() => counted.read).toBeGreaterThan(3 * part);
    expect(counted.read).toBeLessThan(4 * part);
    await page.getByRole('button', { name: 'Jump to start' }).click();
    await visibleLines(page).getByText('line 1 of a long log').waitFor();
    await page.getByText(/^First 262.1 KB of /).waitFor();
    await page.getByRole('button', { name: 'Follow output' }).click();
    await visibleLines(page)
      .getByText(/later \d+$/)
      .last()
      .waitFor();

    // A line's number needs the lines before.
    const target = visibleLines(page)
      .getByText(/later \d+$/)
      .first();
    const text = await target.innerText();
    await target.locator('xpath=ancestor::*[contains(@class, "line")]').getByLabel('Link to this line').click();
    await page.locator('.line.aimed', { hasText: text }).waitFor();
    const { hash } = new URL(page.url());
    expect(hash).toMatch(/^#apply-8\d{3}$/);
    await page.getByText(/^8,\d{3} lines$/).waitFor();

    const other = await visit(`${applying}${hash}`);
    await other.locator('.line.aimed', { hasText: text }).waitFor();
    await other.getByLabel('Search the output of the apply').fill('line 4321 of');
    await other.locator('.line.aimed', { hasText: 'line 4321 of a long log' }).waitFor();
    const download = other.waitForEvent('download');
    await other.getByRole('button', { name: 'Download' }).click();
    const saved = await readFile(await (await download).path(), 'utf8');
    expect(saved).toContain('line 1 of a long log');
    expect(saved).toContain('later 2');
    await client.act(run.id, 'cancel');
    await untilFinal(run);
  });
});

describe('a plan of 2,000 resources', () => {
  it('is shown, filtered and opened without freezing', async () => {
    const page = await visit(path);
    await page.getByRole('button', { name: 'Replace 400' }).waitFor();
    const filtered = await waitAfter(
      page,
      () => page.getByLabel('Search resources').fill('zone-1234'),
      () => document.querySelectorAll('.resource').length === 0 || document.querySelectorAll('.resource').length === 1,
    );
    expect(filtered).toBeLessThan(3_000);
    await page.getByLabel('Search resources').fill('zone-1233');
    await page.getByText('aws_subnet.private["zone-1233"]').click();
    await page.getByRole('cell', { name: '"platform"' }).waitFor();
  });
});

describe('more than a page of workspaces', () => {
  it('are all listed, searched and filtered', async () => {
    const home = newName('many');
    await client.create('/organizations', 'organizations', { name: home, email: 'many@localhost' });
    const names = Array.from({ length: 110 }, (_, i) => `service-${i}-${i % 3 ? 'staging' : 'production'}`);
    for (let i = 0; i < names.length; i += 10) {
      await Promise.all(names.slice(i, i + 10).map((name) => client.createWorkspace(home, name)));
    }
    const page = await visit(`/app/${home}/workspaces`);
    await page.getByRole('button', { name: 'Idle 110' }).waitFor();
    // Rows are added as the user scrolls.
    const rows = page.locator('main .list li');
    expect(await rows.count()).toBeLessThan(names.length);
    // Scrolling to the button would add rows before it could be pressed.
    await page.getByRole('button', { name: 'Show all 110' }).dispatchEvent('click');
    await page.getByText('service-99-production').waitFor();
    expect(await rows.count()).toBe(names.length);
    await page.getByLabel('Search by name').fill('service-9 production');
    // 9, 90, 93, 96 and 99.
    await page.waitForFunction(() => document.querySelectorAll('main .list li').length === 5);
    // The search is restored on the way back.
    await page.getByRole('link', { name: /service-93-production/ }).click();
    await page.getByRole('heading', { name: 'service-93-production' }).waitFor();
    await page.waitForFunction(() => document.activeElement?.id === 'content');
    await page.goBack();
    await page.waitForFunction(() => document.querySelectorAll('main .list li').length === 5);
    expect(new URL(page.url()).search).toBe('?search=service-9+production');
    await page.getByLabel('Search by name').fill('no such thing');
    await page.getByText('No workspaces match the filters.').waitFor();
  });
});
