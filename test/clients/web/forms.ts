import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { Client } from '#clients/client/client.ts';
import { PlatformProcess } from '#test/e2e/support/platform.ts';
import { startBrowser } from './browser/support/browser.ts';
import { findBrowser } from './browser/support/find-browser.ts';

/**
 * `node test/clients/web/forms.ts [folder]`: pictures of filled forms for infra/docs, from a separate platform. Repeat it
 * whenever the forms change.
 */

const folder = process.argv[2] ?? fileURLToPath(new URL('../../../infra/docs/pictures', import.meta.url));

/** The open dialog as WebP, which is a third of a PNG. */
const take = async (page: Page, name: string): Promise<void> => {
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  const png = await page.getByRole('dialog').screenshot({ animations: 'disabled' });
  const webp = await browser.newPage();
  const data = await webp.evaluate(async (base64) => {
    const bits = await createImageBitmap(await (await fetch(`data:image/png;base64,${base64}`)).blob());
    const canvas = Object.assign(document.createElement('canvas'), { width: bits.width, height: bits.height });
    canvas.getContext('2d')?.drawImage(bits, 0, 0);
    return canvas.toDataURL('image/webp', 0.6);
  }, png.toString('base64'));
  await webp.close();
  const file = join(folder, `${name}.webp`);
  await writeFile(file, Buffer.from(data.slice(data.indexOf(',') + 1), 'base64'));
  console.log(file);
};

const connections = [
  { name: 'github', provider: 'GitHub', account: 'acme' },
  { name: 'gitlab', provider: 'GitLab.com', account: 'acme' },
  { name: 'gitea', provider: 'Gitea or Forgejo', account: 'platform', url: 'https://git.example.com' },
  { name: 'bitbucket-cloud', provider: 'Bitbucket Cloud', account: 'acme' },
  {
    name: 'bitbucket-data-center',
    provider: 'Bitbucket Data Center',
    account: 'platform',
    url: 'https://bitbucket.example.com',
  },
  {
    name: 'azure-devops-services',
    provider: 'Azure DevOps Services',
    account: 'acme',
    url: 'https://dev.azure.com/acme',
  },
  {
    name: 'azure-devops-server',
    provider: 'Azure DevOps Server',
    account: 'platform',
    url: 'https://ado.example.com/DefaultCollection',
  },
];

const platform = await PlatformProcess.start();
const browser = await startBrowser(await findBrowser());
try {
  const { url, token } = platform.local;
  const client = new Client(url, token);
  await client.create('/organizations', 'organizations', { name: 'acme', email: 'ops@acme.example' });
  await client.create('/organizations/acme/workspaces', 'workspaces', { name: 'network' });
  const page = await browser.newPage({
    baseURL: url,
    viewport: { width: 1280, height: 1200 },
    colorScheme: 'light',
    locale: 'en-GB',
  });
  await page.goto('/');
  await page.getByLabel('API token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();

  await page.goto('/app/acme/settings/version-control');
  for (const { name, provider, account, url } of connections) {
    await page.getByRole('button', { name: 'New connection' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Provider').selectOption({ label: provider });
    await form.getByLabel('Name').fill(account);
    if (url) await form.getByLabel('URL', { exact: true }).fill(url);
    await form.getByLabel('Access token').fill('0123456789012345678901234567890123456789');
    await take(page, `form-${name}`);
    await form.getByRole('button', { name: 'Cancel' }).click();
  }

  await page.goto('/app/acme/settings/general');
  await page.getByRole('button', { name: 'Set up Slack app' }).click();
  await page.getByLabel('Workspace ID').fill('T0123456789');
  await page.getByLabel('Client ID').fill('1234567890123.1234567890123');
  await page.getByLabel('Client secret').fill('01234567890123456789012345678901');
  await page.getByLabel('Signing secret').fill('01234567890123456789012345678901');
  await take(page, 'form-slack-app');

  await page.goto('/app/acme/workspaces/network/settings');
  await page.getByRole('button', { name: 'New notification' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Channel #infrastructure');
  await page.getByRole('dialog').getByLabel('URL').fill('https://hooks.slack.com/services/T…/B…/…');
  await take(page, 'form-slack-notification');
} finally {
  await browser.close();
  await platform.remove();
}
