import { afterAll, beforeAll, expect, it } from 'vitest';
import { PlatformProcess } from '#test/e2e/support/platform.ts';
import { Client } from '#test/e2e/support/waiting.ts';
import { wrongWith } from './support/accessibility.ts';
import { visit } from './support/reader.ts';

/** On a platform of its own: every user of a platform sees its banner, also those of tests that run at the same time. */

let platform: PlatformProcess;
beforeAll(async () => {
  platform = await PlatformProcess.start();
});
afterAll(() => platform?.remove());

it('a banner of the operator is shown on every view, as text with links, until it ends', async () => {
  const { organization, token, url: baseURL } = platform.local;
  const client = new Client(baseURL, token);
  const banner = await client.create('/admin/banners', 'admin-banners', {
    title: 'Maintenance',
    body: 'tonight, <b>see</b> <a href="https://status.test/">status</a><img src=x onerror="window.hacked=1">',
    style: 'info',
    audience: 'authenticated_only',
  });
  const page = await visit(`/app/${organization}/workspaces`, { baseURL, token });
  const shown = page.getByRole('region', { name: 'Announcement' });
  await shown.getByText('Maintenance').waitFor();
  expect(await shown.getByRole('link', { name: 'status' }).getAttribute('href')).toBe('https://status.test/');
  expect(await shown.locator('img').count()).toBe(0);
  expect(await page.evaluate('window.hacked')).toBeUndefined();
  expect(await wrongWith(page, 'banner')).toEqual([]);
  await client.call('DELETE', `/admin/banners/${banner.id}`);
  await page.reload();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  await page.getByRole('link', { name: 'Projects' }).click();
  await page.getByRole('heading', { name: 'Projects' }).waitFor();
  expect(await shown.count()).toBe(0);
});
