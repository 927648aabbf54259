import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Resource, related } from '#clients/client/client.ts';
import { newName, resources } from '#test/e2e/support/world.ts';
import { archive } from '#test/support/policies.ts';
import { type ForgeServer, startForge } from '#test/version-control/support/forge-server.ts';
import { wrongWith } from './support/accessibility.ts';
import { client, newPage, organization, signIn, visit } from './support/reader.ts';

/** Connections to a forge, repositories and linked accounts, against a server that responds like GitHub. */

let forge: ForgeServer;
beforeAll(async () => {
  forge = await startForge();
  const repository = { id: 1, full_name: 'acme/network', default_branch: 'main', permissions: { admin: true } };
  const sha = 'a'.repeat(40);
  forge.on('GET', '/user/repos', { body: [repository, { ...repository, id: 2, full_name: 'acme/shop' }] });
  forge.on('GET', '/repos/acme/network', { body: repository });
  forge.on('GET', '/repos/acme/network/branches', { body: [{ name: 'main' }, { name: 'release' }] });
  forge.on('GET', /\/branches\/(main|release)$/, { body: { commit: { sha } } });
  forge.on('GET', /\/commits\//, { body: { sha, commit: { message: 'A commit' } } });
  forge.on('GET', /\/hooks$/, { body: [] });
  forge.on('POST', /\/hooks$/, { status: 201, body: { id: 5 } });
});
afterAll(() => forge.close());

/** The OAuth token of a new connection. */
const connected = async (): Promise<{ token: string; name: string }> => {
  const connection = await client.create(`/organizations/${organization}/oauth-clients`, 'oauth-clients', {
    name: newName('hub'),
    'service-provider': 'github_enterprise',
    'http-url': forge.url,
    'api-url': forge.url,
    'oauth-token-string': 'good',
  });
  return { token: related(connection, 'oauth-tokens') ?? '', name: String(connection.attributes.name) };
};

const settings = `/app/${organization}/settings/version-control`;

it('a forge, a repository and its branch are connected from lists, and the page shows how to link an account', async () => {
  const name = newName('hub');
  const page = await visit(settings);
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'New connection' }).click();
  await dialog.getByLabel('Provider').selectOption('github_enterprise');
  await dialog.getByLabel('Name', { exact: true }).fill(name);
  await dialog.getByLabel('URL', { exact: true }).fill(forge.url);
  await dialog.getByLabel('API URL').fill(forge.url);
  await dialog.getByLabel('Access token').fill('wrong');
  await dialog.getByRole('button', { name: 'Connect' }).click();
  await dialog.getByText('refused the token').waitFor();
  await dialog.getByLabel('Access token').fill('good');
  await dialog.getByRole('button', { name: 'Connect' }).click();
  await dialog.waitFor({ state: 'detached' });
  const line = page.getByRole('list', { name: 'Connections' }).getByRole('listitem').filter({ hasText: name });

  await line.getByRole('button', { name: 'Your account' }).click();
  await dialog.getByLabel('User name').fill('octocat');
  await dialog.getByRole('button', { name: 'Get code' }).click();
  expect(await dialog.getByText(/^stepform link /).innerText()).toMatch(/^stepform link [\w-]{43}$/);
  await dialog.getByRole('button', { name: 'Close' }).click();

  const workspace = await client.createWorkspace(organization, newName());
  await page.goto(`/app/${organization}/workspaces/${workspace.attributes.name}/settings`);
  await page.getByLabel('Connection').selectOption({ label: name });
  const offered = (field: string) =>
    page
      .getByLabel(field, { exact: true })
      .evaluate((input) => [...((input as HTMLInputElement).list?.options ?? [])].map(({ value }) => value));
  await expect.poll(() => offered('Repository')).toEqual(['acme/network', 'acme/shop']);
  await page.getByLabel('Repository', { exact: true }).fill('acme/network');
  await expect.poll(() => offered('Branch')).toEqual(['main', 'release']);
  await page.getByLabel('Branch', { exact: true }).fill('release');
  await page.getByRole('button', { name: 'Connect repository' }).click();
  await page.getByText('Follows acme/network, branch release.').waitFor();
  await page.getByText('Last commit: aaaaaaaa A commit').waitFor();
  await page.getByText('Start the first run').waitFor();
  await page.getByRole('button', { name: 'Check for new commits' }).click();
  await page.getByText('See the result under Version control, Latest deliveries').waitFor();
  await page.getByLabel('Apply pull requests before the merge').waitFor();

  await page.getByRole('link', { name: 'Overview' }).click();
  const about = page.getByRole('complementary', { name: 'About this workspace' });
  await about.getByText('acme/network, branch release').waitFor();
  // The forge cannot deliver to a loopback address.
  await page
    .getByText('Start the first run with the button above, or check for new commits in the settings.')
    .waitFor();
  expect(await wrongWith(page, 'overview of a workspace that follows a repository')).toEqual([]);
});

it('an admin changes what starts runs of a workspace', async () => {
  const { token } = await connected();
  const workspace = await client.createWorkspace(organization, newName(), {
    'vcs-repo': { identifier: 'acme/network', 'oauth-token-id': token },
  });
  const page = await visit(`/app/${organization}/workspaces/${workspace.attributes.name}/settings`);
  const save = async (by: string, field?: string, text = '') => {
    await page.getByLabel('Runs are started by').selectOption({ label: by });
    if (field) await page.getByLabel(field, { exact: true }).fill(text);
    await page.getByRole('button', { name: 'Save triggers' }).click();
  };
  const settings = async () => {
    const { attributes } = await client.get(`/workspaces/${workspace.id}`);
    const { 'file-triggers-enabled': files, 'trigger-prefixes': prefixes, 'trigger-patterns': patterns } = attributes;
    return [files, prefixes, patterns, attributes['vcs-repo']['tags-regex'], attributes['speculative-enabled']];
  };
  const until = (expected: unknown[]) => expect.poll(settings).toEqual(expected);
  await save('pushes that change files that match patterns', 'Patterns', '/modules/**/*\n*.tf\n');
  await until([true, [], ['/modules/**/*', '*.tf'], null, true]);
  await save('pushes that change files in the working directory', 'Other folders', 'modules/network');
  await until([true, ['modules/network'], [], null, true]);
  await page.getByLabel('Plan pull requests').uncheck();
  await save('new tags', 'Tag expression', '^v\\d+');
  await until([false, [], [], '^v\\d+', false]);
  expect(await wrongWith(page, 'triggers')).toEqual([]);
  await page.reload();
  expect(await page.getByLabel('Tag expression').inputValue()).toBe('^v\\d+');
  await save('every push to the branch');
  await until([false, [], [], null, false]);
});

it('every member sees connections, deliveries and a broken connection', async () => {
  const { token, name } = await connected();
  const workspace = await client.createWorkspace(organization, newName());
  const repo = { identifier: 'acme/network', 'oauth-token-id': token };
  await client.call('PATCH', `/workspaces/${workspace.id}`, {
    data: { type: 'workspaces', attributes: { 'vcs-repo': repo } },
  });
  forge.tokens.clear();
  await client.call('POST', `/workspaces/${workspace.id}/actions/fetch-latest-from-vcs`, {});
  const page = await visit(settings);
  const connections = page.getByRole('list', { name: 'Connections' }).getByRole('listitem');
  const line = connections.filter({ hasText: name });
  await line.getByText('no longer accepts the token').waitFor();
  const latest = page.getByRole('list', { name: 'Latest deliveries' });
  await latest.getByText('refused the token').first().waitFor();
  forge.tokens.add('good');
  await page.goto(`/app/${organization}/workspaces/${workspace.attributes.name}/settings`);
  await page.getByText('Follows acme/network').waitFor();
});

it('the runs of a commit are listed by workspace, also by keyboard', async () => {
  const { token } = await connected();
  const sha = 'b'.repeat(40);
  const base = '/repos/acme/fleet';
  const facts = { id: 3, full_name: 'acme/fleet', default_branch: 'main', permissions: { admin: true } };
  forge.on('GET', base, { body: facts });
  forge.on('GET', `${base}/branches/main`, { body: { commit: { sha } } });
  forge.on('GET', `${base}/commits/${sha}`, {
    body: { sha, html_url: 'https://forge.example/c', commit: { message: 'Grow the fleet\n\nBy one.' } },
  });
  forge.on('GET', /\/fleet\/tarball\//, { body: await archive({ 'fleet-1/main.tf': resources(['a']) }) });
  const posted = () => forge.asked('POST', `${base}/statuses/${sha}`).at(-1)?.body;
  forge.on('POST', `${base}/statuses/${sha}`, { status: 201, body: {} });
  const names = [newName('fleet'), newName('fleet')];
  for (const name of names) {
    const repo = { identifier: 'acme/fleet', 'oauth-token-id': token };
    await client.createWorkspace(organization, name, { 'queue-all-runs': true, 'vcs-repo': repo });
  }
  await expect.poll(() => posted()?.description).toBe('2 workspaces: 2 planned');
  const page = await visit(new URL(posted().target_url).pathname);
  await page.getByRole('heading', { name: 'Grow the fleet' }).waitFor();
  expect(await page.getByRole('link', { name: sha.slice(0, 8) }).getAttribute('href')).toBe('https://forge.example/c');
  const waiting = page.getByRole('list', { name: 'Needs attention' }).getByRole('listitem');
  await waiting
    .filter({ hasText: names[1] as string })
    .getByText('Needs Confirmation')
    .waitFor();
  expect(await waiting.count()).toBe(2);
  await page.locator('.status', { hasText: /^Needs attention 2$/ }).waitFor();
  expect(await wrongWith(page, 'commit')).toEqual([]);
  await waiting
    .filter({ hasText: names[0] as string })
    .getByRole('link')
    .focus();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Discard' }).waitFor();
  expect(page.url()).toContain(`/workspaces/${names[0]}/runs/`);
  // A run and a list of runs name the pull request of a commit.
  const pull = {
    'pull-request-number': 7,
    'pull-request-title': 'Grow',
    'pull-request-url': 'https://forge.example/7',
  };
  await page.route(/configuration_version\.ingress_attributes/, async (route) => {
    const response = await route.fetch();
    const { included, ...body } = await response.json();
    const pulled = included.map((one: Resource) =>
      one.type === 'ingress-attributes' ? { ...one, attributes: { ...one.attributes, ...pull } } : one,
    );
    await route.fulfill({ response, json: { ...body, included: pulled } });
  });
  await page.goto(`/app/${organization}/workspaces/${names[0]}/runs`);
  await page.getByText('PR #7').click();
  const link = page.getByRole('link', { name: 'PR #7 Grow' });
  expect(await link.getAttribute('href')).toBe('https://forge.example/7');
  await page.goto(new URL(posted().target_url).pathname);
  await waiting.first().waitFor();
  await page.goto(`/app/${organization}/commits/acme/fleet/${'c'.repeat(40)}`);
  await page.getByText('No runs for this commit').waitFor();
});

it('a connection is authorized with an OAuth application, and shows the result', async () => {
  forge.on('GET', '/login/oauth/authorize', ({ query }) => {
    const back = new URL(query.get('redirect_uri') ?? '');
    back.search = String(new URLSearchParams({ code: 'the-code', state: query.get('state') ?? '' }));
    return { status: 302, headers: { location: back.href } };
  });
  let secret = '';
  forge.on('POST', '/login/oauth/access_token', ({ body }) => {
    secret = body.get('client_secret');
    return secret === 'the-secret'
      ? { body: { access_token: 'good', token_type: 'bearer' } }
      : { status: 400, body: { error: 'invalid_client' } };
  });
  const page = await visit(settings);
  const dialog = page.getByRole('dialog');
  const name = newName('hub');
  await page.getByRole('button', { name: 'New connection' }).click();
  await dialog.getByLabel('Provider').selectOption('github_enterprise');
  await dialog.getByLabel('Name', { exact: true }).fill(name);
  await dialog.getByLabel('URL', { exact: true }).fill(forge.url);
  await dialog.getByLabel('API URL').fill(forge.url);
  await dialog.getByLabel('Connect with').selectOption('oauth');
  await dialog.getByRole('button', { name: 'Continue' }).click();
  await dialog.getByText(/\/auth\/[0-9a-f-]{36}\/callback$/).waitFor();
  await dialog.getByLabel('Client ID').fill('the-key');
  await dialog.getByLabel('Client secret').fill('wrong');
  expect(await wrongWith(page, 'authorization')).toEqual([]);
  await dialog.getByRole('button', { name: 'Authorize at' }).click();
  await page.getByText('did not issue a token').waitFor();
  const line = page.getByRole('list', { name: 'Connections' }).getByRole('listitem').filter({ hasText: name });
  await line.getByText('not authorized').waitFor();
  expect(secret).toBe('wrong');
  await line.getByRole('button', { name: 'Authorize' }).click();
  await dialog.getByRole('button', { name: 'Change client ID and secret' }).click();
  await dialog.getByLabel('Client ID').fill('the-key');
  await dialog.getByLabel('Client secret').fill('the-secret');
  await dialog.getByRole('button', { name: 'Authorize at' }).click();
  await page.getByText('The connection is authorized.').waitFor();
  await line.getByText('octocat').waitFor();
});

it('installations of the GitHub App are linked, also by keyboard', async () => {
  const base = `**/api/v2/organizations/${organization}/github-app-installations`;
  const installation = (id: string, name: string, linked: boolean) => ({
    id,
    type: 'github-app-installations',
    attributes: { name, 'error-message': linked ? 'suspended' : null, organization: linked ? organization : null },
  });
  const asked: string[] = [];
  const page = await newPage();
  const json = (body: object) => ({ contentType: 'application/vnd.api+json', body: JSON.stringify(body) });
  await page.route(`${base}?*`, (route) =>
    route.fulfill(
      json({
        data: [installation('ghain-1', 'octo', true)],
        meta: { 'install-url': 'https://github.example/install' },
      }),
    ),
  );
  await page.route('**/api/v2/github-app/installations?*', (route) =>
    route.fulfill(json({ data: [installation('ghain-2', 'kitty', false)] })),
  );
  await page.route(`${base}/ghain-*`, (route) => {
    asked.push(`${route.request().method()} ${new URL(route.request().url()).pathname}`);
    return route.fulfill({ status: 204 });
  });
  await page.route(`${base}/ghain-2/link-account`, (route) => {
    asked.push(`${route.request().method()} ${new URL(route.request().url()).pathname}`);
    return route.fulfill({ status: 204 });
  });
  await page.goto(settings);
  await signIn(page);
  const lines = page.getByRole('list', { name: 'Installations of the GitHub App' }).getByRole('listitem');
  await lines.filter({ hasText: 'octo' }).getByText('suspended').waitFor();
  await lines.getByRole('button', { name: 'Link kitty' }).focus();
  await page.keyboard.press('Enter');
  await lines.getByRole('button', { name: 'Unlink' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Unlink' }).click();
  await expect.poll(() => asked).toHaveLength(2);
  expect(asked.map((one) => one.replace(/^(\w+) .*\/(ghain.*)$/, '$1 $2'))).toEqual([
    'POST ghain-2/link-account',
    'DELETE ghain-1',
  ]);
  expect(await page.getByRole('link', { name: 'Install the app' }).getAttribute('href')).toContain('/install');
  await page.getByRole('list', { name: 'Latest deliveries' }).getByText('refused the token').first().waitFor();
  expect(await wrongWith(page, 'installations, connections and deliveries')).toEqual([]);
});
