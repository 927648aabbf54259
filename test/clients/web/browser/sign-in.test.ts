import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PlatformProcess } from '#test/e2e/support/platform.ts';
import { Client, until } from '#test/e2e/support/waiting.ts';
import { type Issuer, startIssuer } from '#test/support/issuer.ts';
import { wrongWith } from './support/accessibility.ts';
import { newPage, visit } from './support/reader.ts';

/** Sign-in at a real provider, with a browser, and its consequences. */

let issuer: Issuer;
let platform: PlatformProcess;
beforeAll(async () => {
  issuer = await startIssuer();
  platform = await PlatformProcess.start({
    STEPFORM_SIGN_IN_ISSUER: issuer.url,
    STEPFORM_SIGN_IN_CLIENT_ID: issuer.clientId,
    STEPFORM_SIGN_IN_CLIENT_SECRET: issuer.clientSecret,
    STEPFORM_SIGN_IN_NAME: 'Example',
  });
  issuer.trust(`${platform.local.url}/oauth/callback`);
  issuer.account = { sub: 'ada-1', email: 'ada@example.test', email_verified: true, preferred_username: 'ada' };
});
afterAll(async () => {
  await platform?.remove();
  await issuer?.close();
});

/** The session in the tab's storage. */
const sessionOf = (page: Page): Promise<string> =>
  page.evaluate(() => JSON.parse(sessionStorage.getItem('stepform-token') ?? '{}').token ?? '');

it('sign-in returns to the previous page, leaves no secrets in the URL, and ends at sign-out', async () => {
  const { url } = platform.local;
  const page = await newPage({ baseURL: url });
  await page.goto('/app/organizations/new?from=test');
  await page.getByRole('button', { name: 'Sign in with Example' }).click();
  await page.getByRole('link', { name: 'ada' }).waitFor();
  expect(page.url()).toBe(`${url}/app/organizations/new?from=test`);
  const stored = await page.evaluate(() => Object.entries(sessionStorage));
  expect(stored.map(([name]) => name)).toEqual(['stepform-token']);
  const session = await sessionOf(page);
  expect(session).toMatch(/^sfs_/);
  expect((await page.context().cookies(url)).map(({ name }) => name)).toEqual([]);

  const authorization = `Bearer ${session}`;
  const ask = () => fetch(`${url}/api/v2/account/details`, { headers: { authorization } });
  expect((await ask()).status).toBe(200);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Sign in with Example' }).waitFor();
  await until(ask, ({ status }) => status === 401);
});

it('after an expired session, sign-in happens in another tab, and typed text stays', async () => {
  const { url } = platform.local;
  const page = await newPage({ baseURL: url });
  await page.goto('/app/organizations/new');
  await page.getByRole('button', { name: 'Sign in with Example' }).click();
  await page.getByLabel('Name').fill('typed');
  const session = await sessionOf(page);
  await fetch(`${url}/oauth/revoke`, { method: 'POST', body: new URLSearchParams({ token: session }) });
  await page.getByLabel('E-mail').fill('o@example.test');
  await page.getByRole('button', { name: 'Create organization' }).click();
  const again = page.getByRole('dialog', { name: 'Sign in again' });
  await again.getByText('Your session has expired').waitFor();
  await again.getByRole('button', { name: 'Sign in with Example' }).click();
  // The form is sent once the other tab has signed in. The platform lets only its owner create organizations.
  await page.getByRole('alert').getByText('permission to create organizations').waitFor();
  expect(await page.getByLabel('Name').inputValue()).toBe('typed');
  await expect.poll(() => page.context().pages().length).toBe(1);
  expect(await sessionOf(page)).toMatch(/^sfs_/);
});

it('sign-in connects the identity to the user who was signed in with a token', async () => {
  const { token, url } = platform.local;
  const page = await newPage({ baseURL: url });
  await page.goto('/app/settings/tokens');
  await page.getByLabel('API token').fill(token);
  await page.getByRole('button', { name: 'Use token' }).click();
  issuer.account = { sub: 'owner-1', email: 'owner@example.test', email_verified: true };
  await page.getByRole('button', { name: 'Connect with Example' }).click();
  await expect.poll(() => sessionOf(page)).toMatch(/^sfs_/);
  const me = await new Client(url, await sessionOf(page)).get('/account/details');
  expect(me.id).toBe((await new Client(url, token).get('/account/details')).id);
});

it('invitations are shown, to accept or decline', async () => {
  const { token, url } = platform.local;
  const owner = new Client(url, token);
  const email = 'mira@example.test';
  issuer.account = { sub: 'mira-1', email, email_verified: true, preferred_username: 'mira' };
  const page = await newPage({ baseURL: url });
  await page.goto('/app');
  await page.getByRole('button', { name: 'Sign in with Example' }).click();
  await page.getByText('No organizations yet').waitFor();
  for (const name of ['wanted', 'unwanted'])
    await owner.create('/organizations', 'organizations', { name, email: 'o@example.test' });
  await owner.create('/organizations/unwanted/organization-memberships', 'organization-memberships', { email });
  const inviting = await visit('/app/wanted/settings/members', { baseURL: url, token });
  await inviting.getByRole('button', { name: 'Invite' }).click();
  await inviting.getByRole('dialog').getByLabel('E-mail').fill(email);
  await inviting.getByRole('dialog').getByRole('button', { name: 'Invite' }).click();
  await inviting.getByRole('listitem').filter({ hasText: email }).getByText('invited').waitFor();
  await page.reload();
  const invitations = page.getByRole('region', { name: 'Invitations' });
  await invitations.getByRole('button', { name: 'Join wanted', exact: true }).click();
  await page.getByRole('link', { name: 'wanted' }).waitFor();
  await invitations.getByText(`to ${email}`).waitFor();
  // A user who declines is no member; a user with only one organization is redirected to it.
  await invitations.getByRole('button', { name: 'Decline unwanted', exact: true }).click();
  await page.waitForURL(`${url}/app/wanted/overview`);
  const ids = (await new Client(url, await sessionOf(page)).list('/organizations')).map(({ id }) => id);
  expect(ids).toEqual(['wanted']);
});

it('connected identities are listed and can be disconnected, which ends their sessions', async () => {
  const { url } = platform.local;
  issuer.account = { sub: 'jo-1', email: 'jo@example.test', email_verified: true, preferred_username: 'jo' };
  const page = await newPage({ baseURL: url });
  await page.goto('/app/settings/tokens');
  await page.getByRole('button', { name: 'Sign in with Example' }).click();
  const identities = page.getByRole('region', { name: 'Identities' });
  await identities.getByText('jo-1').waitFor();
  await identities.getByText(new URL(issuer.url).host).waitFor();
  const session = new Client(url, await sessionOf(page));
  const dialog = page.getByRole('dialog');
  await identities.getByRole('button', { name: 'Disconnect jo-1' }).click();
  await dialog.getByRole('button', { name: 'Disconnect' }).click();
  await dialog.getByRole('alert').getByText('This identity is your only way to sign in').waitFor();
  const { id } = await session.get('/account/details');
  await session.create(`/users/${id}/authentication-tokens`, 'authentication-tokens', {
    description: 'another way in',
  });
  await dialog.getByRole('button', { name: 'Disconnect' }).click();
  await page.getByRole('button', { name: 'Sign in with Example' }).waitFor();
  await expect(session.get('/account/details')).rejects.toMatchObject({ status: 401 });
});

// Here, because every user of a platform sees its banner, also those of tests that run at the same time.
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
