import type { Browser, Page } from 'playwright-core';
import { packFiles } from '#clients/cli/archive.ts';
import { Client } from '#clients/client/client.ts';
import { startBrowser } from '#test/clients/web/browser/support/browser.ts';
import { findBrowser } from '#test/clients/web/browser/support/find-browser.ts';
import {
  countRequests,
  firstPaint,
  longestFrame,
  noteDelays,
  speaking,
  waitAfter,
} from '#test/clients/web/browser/support/measure.ts';
import { enlarge } from '#test/clients/web/browser/support/operator.ts';
import { operate } from '#test/e2e/support/operator.ts';
import type { Local } from '#test/e2e/support/platform.ts';
import { firstLoadBytes, mostFirstLoadBytes } from '#test/support/first-load.ts';
import { type Figure, median, round, type Section } from './figures.ts';

const workspaces = 1_000;
const lines = 100_000;
const resources = 5_000;
const resourcesOnSlowNetwork = 2_000;
/** Lighthouse's "Slow 4G". */
const slow4G = { offline: false, latency: 150, downloadThroughput: 1_638_400 / 8, uploadThroughput: 768_000 / 8 };

const ms = (name: string, value: number, atMost?: number): Figure => ({
  name,
  value: round(value),
  unit: 'ms',
  atMost,
});

const weight = async (): Promise<Figure> => ({
  name: 'script and style of the first load, gzip',
  value: round((await firstLoadBytes()) / 1000, 1),
  unit: 'KB',
  atMost: mostFirstLoadBytes / 1000,
});

/** A run that waits for confirmation, with a large log and a large plan. */
const largeRun = async (client: Client, organization: string, size: number): Promise<string> => {
  const name = `large-${size}`;
  const workspace = await client.createWorkspace(organization, name);
  const version = await client.upload(workspace.id, await packFiles({ 'main.tf': 'resource "terraform_data" "a" {}' }));
  const run = await client.createRun(workspace.id, {}, version.id);
  await client.waitForRun(run.id, ({ attributes }) => attributes.actions['is-confirmable']);
  await enlarge(run.id, { lines, resources: size });
  return `/app/${organization}/workspaces/${name}/runs/${run.id}`;
};

const manyWorkspaces = async (client: Client): Promise<string> => {
  const name = 'many';
  await client.create('/organizations', 'organizations', { name, email: 'many@localhost' });
  for (let i = 0; i < workspaces; i += 10) {
    await Promise.all(Array.from({ length: 10 }, (_, j) => client.createWorkspace(name, `service-${i + j}`)));
  }
  return `/app/${name}/workspaces`;
};

/** Each time with an empty cache. */
const painted = async (browser: Browser, url: string): Promise<Figure> => {
  const times: number[] = [];
  for (let i = 0; i < 5; i++) {
    const page = await browser.newPage();
    await page.goto(url);
    await page.getByLabel('API token').waitFor();
    times.push(await firstPaint(page));
    await page.close();
  }
  return ms('first contentful paint, median of 5', median(times), 1_000);
};

const signIn = async (page: Page, { url, token }: Local): Promise<void> => {
  await page.goto(url);
  await page.getByLabel('API token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
};

const untilDiff = async (page: Page, path: string): Promise<number> => {
  const shown = await waitAfter(
    page,
    () => page.goto(path, { waitUntil: 'commit' }),
    () => document.querySelector('.resource') !== null,
  );
  return Math.max(shown, await sinceNavigation(page));
};

/** With an empty cache. */
const onSlowNetwork = async (page: Page, path: string): Promise<Figure> => {
  const network = await page.context().newCDPSession(page);
  await network.send('Network.enable');
  await network.send('Network.setCacheDisabled', { cacheDisabled: true });
  await network.send('Network.emulateNetworkConditions', slow4G);
  const shown = await untilDiff(page, path);
  await network.detach();
  return ms(`a plan of ${resourcesOnSlowNetwork} resources on slow 4G: from the address to the diff`, shown, 3_000);
};

async function* measureLarge(page: Page, path: string): AsyncGenerator<Figure> {
  yield ms(`a plan of ${resources} resources: from the address to the diff`, await untilDiff(page, path));
  const filtered = await waitAfter(
    page,
    () => page.getByLabel('Search resources').fill('zone-1233'),
    () => document.querySelectorAll('.resource').length === 1,
  );
  yield ms('  filtered', filtered, 500);
  await page.getByLabel('Search resources').fill('');
  yield ms('  longest frame while scrolled', await longestFrame(page, 'html'), 200);
  const read = await waitAfter(
    page,
    () => page.getByRole('button', { name: 'Output', exact: true }).click(),
    () => document.querySelector('.log .line') !== null,
  );
  yield ms(`a log of ${lines} lines: from the click to the first`, read);
  const searchTime = await waitAfter(
    page,
    async () => {
      await page.getByLabel('Search the output of the plan').fill('line 99999 of');
      await page.keyboard.press('Enter');
    },
    () => document.querySelector('.line.aimed') !== null,
  );
  yield ms('  read whole and searched', searchTime);
  yield ms('  longest frame while scrolled', await longestFrame(page, '.log'), 200);
}

/** A run with log output, watched from the first line to Applied. */
async function* measureLive(page: Page, client: Client, organization: string): AsyncGenerator<Figure> {
  const workspace = await client.createWorkspace(organization, 'speaking', { 'auto-apply': true });
  const version = await client.upload(workspace.id, await packFiles({ 'main.tf': speaking }));
  const run = await client.createRun(workspace.id, {}, version.id);
  await page.goto(`/app/${organization}/workspaces/speaking/runs/${run.id}`);
  const delays = await noteDelays(page);
  await page.getByLabel('Lines of the apply').getByText('said').first().waitFor();
  const counted = countRequests(page);
  const began = performance.now();
  await page.locator('main .status', { hasText: 'Applied' }).waitFor();
  const seenAt = Date.now();
  const minutes = (performance.now() - began) / 60_000;
  const ended = await client.run(run.id);
  const noted = await delays();
  yield ms('a line from the provisioner to the screen, median', median(noted), 1_000);
  yield ms('  the slowest', Math.max(...noted));
  yield ms(
    'Applied from the table to the screen',
    seenAt - Date.parse(ended.attributes['status-timestamps']['applied-at'] ?? ''),
    1_000,
  );
  const perMinute = round((counted.api + counted.logs) / minutes);
  yield { name: 'requests while an apply speaks', value: perMinute, unit: 'per min' };
}

/** A navigation restarts the clock. */
const sinceNavigation = (page: Page): Promise<number> => page.evaluate(() => performance.now());

export const page: Section = {
  about: 'the web page, in a real browser',
  needsPlatform: true,
  async *measure(local) {
    if (!local) throw new Error('needs a platform');
    yield await weight();
    operate(local);
    const client = new Client(local.url, local.token);
    const browser = await startBrowser(await findBrowser());
    try {
      yield await painted(browser, local.url);
      const tab = await browser.newPage({ baseURL: local.url, viewport: { width: 1280, height: 900 } });
      await signIn(tab, local);
      yield* measureLive(tab, client, local.organization);
      yield await onSlowNetwork(tab, await largeRun(client, local.organization, resourcesOnSlowNetwork));
      yield* measureLarge(tab, await largeRun(client, local.organization, resources));
      await tab.goto(await manyWorkspaces(client));
      await tab.getByRole('button', { name: `Idle ${workspaces}` }).waitFor();
      yield ms(`${workspaces} workspaces: from the address to all of them`, await sinceNavigation(tab));
      const searched = await waitAfter(
        tab,
        () => tab.getByLabel('Search by name').fill('service-999'),
        () => document.querySelectorAll('main .list li').length === 1,
      );
      yield ms('  searched', searched, 500);
      await tab.getByLabel('Search by name').fill('');
      yield ms('  longest frame while scrolled', await longestFrame(tab, 'html'), 200);
    } finally {
      await browser.close();
    }
  },
};
