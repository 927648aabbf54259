import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { newName, newWorkspace, resources, startRun, untilFinal } from '#test/e2e/support/world.ts';
import { client, organization, runPath, visit } from './support/reader.ts';

/** The scripts that a view loads first, and the page's reaction when one is missing. */

/** Bytes as sent, in any encoding. */
const loadedBytes = (page: Page): Promise<number> =>
  page.evaluate(() =>
    (performance.getEntriesByType('resource') as PerformanceResourceTiming[])
      .filter(({ name }) => name.includes('/app/assets/'))
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
  );

const gone = { status: 404, contentType: 'text/plain', body: '' };
const lazyPart = /\/app\/assets\/organization-[^/]*\.js$/;

it('each view loads at most 90 KB of script and style', async () => {
  const workspace = await newWorkspace();
  const run = await startRun(workspace, { 'main.tf': resources(['a']) }, { 'auto-apply': true });
  await untilFinal(run);
  const { name } = workspace.attributes;
  const at = `/app/${organization}`;
  const views: [path: string, heading: string][] = [
    ['/', 'Organizations'],
    [`${at}/overview`, 'Overview'],
    [`${at}/workspaces`, 'Workspaces'],
    [`${at}/runs`, 'Runs'],
    [`${at}/projects`, 'Projects'],
    [`${at}/templates`, 'Templates'],
    [`${at}/settings/teams`, 'Teams'],
    [`${at}/workspaces/${name}`, name],
    [`${at}/workspaces/${name}/variables`, name],
    [runPath(name, run.id), run.attributes.message],
  ];
  // A user with only one organization is redirected to it.
  await client.create('/organizations', 'organizations', { name: newName('second'), email: 'second@localhost' });
  const page = await visit('/');
  const over: string[] = [];
  for (const [path, heading] of views) {
    await page.goto(path);
    await page.getByRole('heading', { name: heading, exact: true }).first().waitFor();
    const bytes = await loadedBytes(page);
    expect(bytes, path).toBeGreaterThan(30_000);
    if (bytes > 90_000) over.push(`${path}: ${bytes}`);
  }
  expect(over).toEqual([]);
});

it('the first view loads two scripts and one style sheet, other groups one more script', async () => {
  const page = await visit(`/app/${organization}/workspaces`);
  const loaded = (): Promise<string[]> =>
    page.evaluate(() =>
      performance
        .getEntriesByType('resource')
        .flatMap(({ name }) => /\/app\/assets\/([a-z]+)-\w+\.(js|css)$/.exec(name)?.slice(1).join('.') ?? [])
        .sort(),
    );
  await page.getByRole('heading', { name: 'Workspaces', exact: true }).waitFor();
  expect(await loaded()).toEqual(['chunk.js', 'page.css', 'page.js']);
  await page.goto(`/app/${organization}/overview`);
  await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor();
  expect(await loaded()).toEqual(['chunk.js', 'page.css', 'page.js']);
  // The dialog's script is not loaded before the dialog is opened.
  await page.goto(`/app/${organization}/workspaces`);
  await page.getByRole('button', { name: 'New workspace' }).click();
  await page.getByRole('dialog', { name: 'New workspace' }).getByLabel('Name').waitFor();
  expect(await loaded()).toContain('workspace.js');
});

it('a part that fails to load can be loaded again', async () => {
  const page = await visit('/');
  await page.route(lazyPart, (route) => route.fulfill(gone));
  await page.goto(`/app/${organization}/settings/teams`);
  await page.getByText('Can’t load this page.').waitFor();
  await page.unroute(lazyPart);
  await page.getByRole('button', { name: 'Load again' }).click();
  await page.getByRole('heading', { name: 'Teams', exact: true }).waitFor();
});

it('a page that is older than the platform reloads at its new address', async () => {
  const page = await visit(`/app/${organization}/workspaces`);
  // The scripts of this page were replaced, and the new document names others.
  await page.route(lazyPart, (route) => route.fulfill(gone));
  await page.route(/\/app$/, (route) => route.fulfill({ contentType: 'text/html', body: 'page-NEW.js' }));
  const reloaded = page.waitForEvent('domcontentloaded');
  await page.getByRole('link', { name: 'Access' }).click();
  await reloaded;
  await page.unroute(lazyPart);
  await page.getByRole('heading', { name: 'Teams', exact: true }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/app/${organization}/settings/teams`);
});

it('loading parts keep their place in the layout', async () => {
  const page = await visit(`/app/${organization}/workspaces`);
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(lazyPart, async (route) => {
    await promise;
    await route.continue();
  });
  await page.getByRole('link', { name: 'Access' }).click();
  await page.locator('.skeleton').waitFor();
  resolve();
  await page.getByRole('heading', { name: 'Teams', exact: true }).waitFor();
  expect(await page.locator('.skeleton').count()).toBeLessThanOrEqual(1);
});
