import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { client, newWorkspace, resources, startRun } from '#test/e2e/support/world.ts';
import { wrongWith } from './support/accessibility.ts';
import { newPage, organization, platform, seesStatus, signIn } from './support/reader.ts';

/** Browser notifications: requested by a click only, and shown for the user's own runs that need a decision. */

interface Shown {
  title: string;
  body: string;
  tag: string;
}
/** `byTag`: the notifications themselves. Runs of other tests notify the same user on the same platform. */
type Recording = typeof window & { shown: Shown[]; asked: number; byTag: Map<string, Notification> };

/** Records the page's calls; the notifications are the browser's own. */
const record = (allowed: boolean) => {
  const real = window.Notification;
  Object.assign(window, { shown: [], asked: 0, byTag: new Map() });
  const noted = window as Recording;
  class Noted extends real {
    constructor(title: string, options: NotificationOptions = {}) {
      super(title, options);
      noted.shown.push({ title, body: options.body ?? '', tag: options.tag ?? '' });
      noted.byTag.set(this.tag, this);
    }
    // Without windows, Chromium always reports the permission as denied here.
    static override get permission(): NotificationPermission {
      return allowed ? 'granted' : 'default';
    }
    static override requestPermission(): Promise<NotificationPermission> {
      noted.asked++;
      // Without windows, an undecided permission request sometimes gets no response.
      return allowed ? real.requestPermission() : Promise.resolve('denied');
    }
  }
  window.Notification = Noted;
};

const visitRecorded = async (path: string, allowed: boolean, beforeSignIn?: (page: Page) => unknown): Promise<Page> => {
  const page = await newPage();
  if (allowed) await page.context().grantPermissions(['notifications']);
  await page.addInitScript(record, allowed);
  await page.goto(path);
  await beforeSignIn?.(page);
  await signIn(page, platform.token);
  return page;
};

const shown = (page: Page): Promise<Shown[]> => page.evaluate(() => (window as Recording).shown);
/** Polls now, as after a network failure. */
const askNow = (page: Page): Promise<boolean> => page.evaluate(() => dispatchEvent(new Event('online')));

it('a user is notified about their run that needs a decision, with a link', async () => {
  const page = await visitRecorded(`/app/${organization}/projects`, true);
  await page.getByRole('heading', { name: 'Projects', exact: true }).waitFor();
  expect(await page.evaluate(() => (window as Recording).asked)).toBe(0);
  await page.getByRole('button', { name: 'Browser notifications: off' }).click();
  const dialog = page.getByRole('dialog');
  expect(await wrongWith(page, 'browser notifications')).toEqual([]);
  const looked = page.waitForResponse(/non_final&include=workspace/);
  await dialog.getByRole('button', { name: 'Turn on' }).click();
  await looked;
  await dialog.getByText('Notifications are on in this browser.').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  expect((await shown(page))[0]?.title).toBe('Notifications are on');

  const workspace = await newWorkspace();
  const run = await startRun(workspace, { 'main.tf': resources(['a']) });
  await client.waitForRun(run.id, ({ attributes }) => attributes.actions['is-confirmable']);
  await expect
    .poll(async () => {
      await askNow(page);
      return shown(page);
    })
    .toContainEqual({
      title: 'Needs Confirmation',
      body: `${run.attributes.message}\n${workspace.attributes.name} in ${organization}`,
      tag: run.id,
    });
  await askNow(page);
  expect((await shown(page)).filter(({ tag }) => tag === run.id)).toHaveLength(1);
  await page.evaluate((tag) => (window as Recording).byTag.get(tag)?.onclick?.(new Event('click')), run.id);
  await page.waitForURL(({ pathname }) => pathname.includes(run.id));
  await seesStatus(page, 'Needs Confirmation');

  // The setting survives a reload, and another click turns it off.
  await page.reload();
  await page.getByRole('button', { name: 'Browser notifications: on' }).click();
  await dialog.getByRole('button', { name: 'Turn off' }).click();
  await dialog.getByText('Notifications are off in this browser.').waitFor();
  await page.reload();
  await page.getByRole('button', { name: 'Browser notifications: off' }).waitFor();
});

it('the dialog explains what to do when the browser blocks notifications', async () => {
  const page = await visitRecorded(`/app/${organization}/projects`, false);
  await page.getByRole('button', { name: 'Browser notifications: off' }).click();
  await page.getByRole('button', { name: 'Turn on' }).click();
  await page.getByRole('alert').getByText('Your browser blocks notifications').waitFor();
  expect(await shown(page)).toEqual([]);
});

it('the dialog stays open while the view behind it is loaded', async () => {
  const loads = Promise.withResolvers<void>();
  const page = await visitRecorded(`/app/${organization}/projects`, false, (opened) =>
    opened.route(/\.js$/, async (route) => {
      await loads.promise;
      await route.continue();
    }),
  );
  await page.getByRole('button', { name: 'Browser notifications: off' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  expect(await page.locator('h1').count()).toBe(0);
  loads.resolve();
  await page.locator('h1').waitFor();
  await dialog.getByRole('button', { name: 'Turn on' }).click();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await dialog.waitFor({ state: 'detached' });
});
