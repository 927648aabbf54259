import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operate } from '#test/e2e/support/operator.ts';
import { newWorkspace, type Resource, resources, startRun, untilConfirmable } from '#test/e2e/support/world.ts';
import { wrongWith } from './support/accessibility.ts';
import { newMember } from './support/operator.ts';
import { client, newPage, organization, platform, runPath, seesStatus, signIn, visit } from './support/reader.ts';

let workspace: Resource;
/** Waits for its confirmation. */
let run: Resource;
beforeAll(async () => {
  operate(platform);
  workspace = await newWorkspace();
  run = await untilConfirmable(await startRun(workspace, { 'main.tf': resources(['a']) }, { message: 'From CI' }));
});

describe('a token', () => {
  it('is kept in open tabs: not in addresses, persistent storage or cookies, and is sent to this origin only', async () => {
    const page = await newPage();
    const sent: { url: string; authorization?: string }[] = [];
    page.on('request', (one) => sent.push({ url: one.url(), authorization: one.headers().authorization }));
    await page.goto('/');
    await signIn(page);
    await page.goto(runPath(workspace.attributes.name, run.id));
    await page.getByText('terraform_data.a').first().waitFor();
    const stored = await page.evaluate(() => ({ local: JSON.stringify(localStorage), cookies: document.cookie }));
    expect(JSON.stringify(stored)).not.toContain(platform.token);
    expect(await page.context().storageState()).toMatchObject({ cookies: [] });
    expect(sent.filter(({ url }) => url.includes(platform.token))).toEqual([]);
    const own = new URL(platform.url).origin;
    const strangers = sent.filter(({ url }) => new URL(url).origin !== own);
    // The plan comes from the bucket, by a presigned URL and without the token.
    expect(strangers.map(({ url }) => new URL(url).origin)).toEqual([new URL(platform.awsEndpointUrl ?? '').origin]);
    expect(strangers.map(({ authorization }) => authorization)).toEqual([undefined]);
  });

  it('that is invalid shows an error, and the address is kept', async () => {
    const path = `/app/${organization}/workspaces`;
    const page = await newPage();
    await page.goto(path);
    await page.getByLabel('API token').fill('sfu_wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('Invalid token').waitFor();
    await signIn(page);
    await page.getByRole('heading', { name: 'Workspaces' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(path);
  });

  it('that was revoked ends the session, and a reload keeps one', async () => {
    const page = await visit('/app/settings/tokens');
    await page.getByRole('button', { name: 'New token' }).click();
    await page.getByLabel('Description').fill('for a moment');
    await page.getByRole('button', { name: 'Create token' }).click();
    const secret = await page.getByLabel('new token').innerText();
    const other = await visit(`/app/${organization}/workspaces`, { token: secret.trim() });
    await other.reload();
    await other.getByRole('heading', { name: 'Workspaces' }).waitFor();
    await page.getByRole('button', { name: 'Revoke for a moment' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await other.getByText('Your token has expired or was revoked').waitFor();
    expect(await other.evaluate(() => sessionStorage.length)).toBe(0);
  });
});

describe('typed text when the token is no longer valid', () => {
  /** A form with typed text, in a session that has ended. */
  const typedIn = async () => {
    const workspace = await newWorkspace();
    const { id: user } = await client.get('/account/details');
    const created = await client.create(`/users/${user}/authentication-tokens`, 'authentication-tokens', {});
    const page = await visit(`/app/${organization}/workspaces/${workspace.attributes.name}/variables`, {
      token: created.attributes.token,
    });
    await page.getByRole('button', { name: 'Add variable' }).click();
    const form = page.getByRole('dialog', { name: 'Add a variable' });
    await form.getByLabel('Name').fill('typed');
    await form.getByLabel('Value', { exact: true }).fill('for an hour');
    // Not before the click: a poll that notices it opens the dialog that covers the button.
    let revoked = false;
    await page.route('**/vars', async (route) => {
      if (route.request().method() === 'POST' && !revoked) {
        revoked = true;
        await client.call('DELETE', `/authentication-tokens/${created.id}`);
      }
      await route.continue();
    });
    await form.getByRole('button', { name: 'Add variable' }).click();
    const again = page.getByRole('dialog', { name: 'Sign in again' });
    await again.getByText('Your token has expired or was revoked').waitFor();
    return { page, workspace, form, again };
  };

  it('survives, and is saved once the same user has signed in over the page', async () => {
    const { page, workspace, form, again } = await typedIn();
    await page.keyboard.press('Escape');
    await again.waitFor();
    expect(await wrongWith(page, 'sign in again')).toEqual([]);
    await again.getByLabel('API token').fill(platform.token);
    await again.getByRole('button', { name: 'Sign in' }).click();
    await form.waitFor({ state: 'detached' });
    const variables = await client.list(`/workspaces/${workspace.id}/vars`);
    expect(variables.map(({ attributes }) => [attributes.key, attributes.value])).toEqual([['typed', 'for an hour']]);
    await again.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
  });

  it('is neither shown to another user nor sent as that user', async () => {
    const { page, workspace, form, again } = await typedIn();
    await again.getByLabel('API token').fill(await newMember(organization, 'write'));
    await again.getByRole('button', { name: 'Sign in' }).click();
    // The dialog has a button to sign out too.
    await again.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    expect(await form.count()).toBe(0);
    expect(await client.list(`/workspaces/${workspace.id}/vars`)).toEqual([]);
  });

  it('is gone after signing out', async () => {
    const { page, form, again } = await typedIn();
    await again.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
    expect(await form.count()).toBe(0);
  });
});

describe('one session for all tabs', () => {
  const other = async (page: Page, path: string): Promise<Page> => {
    const tab = await page.context().newPage();
    await tab.goto(path);
    return tab;
  };

  it('signs in a new tab automatically, and ends in all of them', async () => {
    const page = await visit(`/app/${organization}/workspaces`);
    const tab = await other(page, `/app/${organization}/runs`);
    await tab.getByRole('button', { name: 'Sign out' }).waitFor();
    expect(await tab.evaluate(() => JSON.stringify(localStorage))).not.toContain(platform.token);
    await tab.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API token').waitFor();
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
    // Signing in in one tab signs in the others.
    await signIn(page);
    await tab.getByRole('button', { name: 'Sign out' }).waitFor();
  });

  it('does not outlive a sign-out that a suspended tab missed', async () => {
    const page = await visit(`/app/${organization}/workspaces`);
    const tab = await other(page, `/app/${organization}/runs`);
    await tab.getByRole('button', { name: 'Sign out' }).waitFor();
    await page.goto('about:blank');
    await tab.getByRole('button', { name: 'Sign out' }).click();
    await tab.getByLabel('API token').waitFor();
    await tab.close();
    await page.goBack();
    await page.getByLabel('API token').waitFor();
  });

  it('is not given to another origin on the same machine', async () => {
    const page = await visit(`/app/${organization}/workspaces`);
    // The same machine at another port or subdomain, to which a cookie would be sent.
    const stranger = await page.context().newPage();
    const at = new URL(platform.url);
    at.hostname = at.hostname === 'localhost' ? '127.0.0.1' : 'localhost';
    await stranger.goto(`${at.origin}/app/${organization}/workspaces`);
    await stranger.getByLabel('API token').waitFor();
    expect(await stranger.context().cookies()).toEqual([]);
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
  });
});

describe('addresses', () => {
  it('outside of the page show that there is no such page, without signing in', async () => {
    const page = await newPage();
    expect((await page.goto('/nothing/here'))?.status()).toBe(404);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await page.getByRole('link', { name: 'see your organizations' }).click();
    await page.getByLabel('API token').waitFor();
  });

  it('that the command line prints lead to the run', async () => {
    const page = await visit(`/app/${organization}/${workspace.attributes.name}/runs/${run.id}`);
    await page.getByRole('heading', { name: 'From CI' }).waitFor();
    await page.goBack().catch(() => {});
  });

  it('of terraform login lead to a new token', async () => {
    const page = await visit('/app/settings/tokens?source=terraform-login');
    await page.getByText('terraform login is waiting for a token').waitFor();
  });
});

/** A proxy that serves the platform under a path prefix, and strips it. */
const prefix = '/tools/stepform';
let proxy: Server;
beforeAll(async () => {
  const { hostname, port } = new URL(platform.url);
  proxy = createServer((incoming, outgoing) => {
    if (!incoming.url?.startsWith(`${prefix}/`)) return outgoing.writeHead(404).end();
    const path = incoming.url.slice(prefix.length);
    const { method, headers } = incoming;
    const onward = request({ hostname, port, path, method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(onward);
    onward.on('error', () => outgoing.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  proxy.closeAllConnections();
  proxy.close();
});

it('the page works under a path prefix, logs and links included', async () => {
  const page = await newPage({ baseURL: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` });
  await page.goto(`${prefix}${runPath(workspace.attributes.name, run.id)}`);
  await signIn(page);
  await seesStatus(page, 'Needs Confirmation');
  await page.getByText('terraform_data.a').first().waitFor();
  await page.getByRole('button', { name: 'Output', exact: true }).click();
  await page.getByLabel('Lines of the plan').getByText('Plan: 1 to add').waitFor();
  await page.getByLabel('You are here').getByRole('link', { name: workspace.attributes.name }).click();
  await page.getByRole('heading', { name: workspace.attributes.name }).waitFor();
  expect(new URL(page.url()).pathname).toBe(
    `${prefix}/app/${organization}/workspaces/${workspace.attributes.name}/runs`,
  );
});
