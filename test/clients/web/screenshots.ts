import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { packFiles, packFolder } from '#clients/cli/archive.ts';
import { Client, isFinalRun, type Resource } from '#clients/client/client.ts';
import { PlatformProcess } from '#test/e2e/support/platform.ts';
import { archive, policyFiles } from '#test/support/policies.ts';
import { startBrowser } from './browser/support/browser.ts';
import { findBrowser } from './browser/support/find-browser.ts';

/**
 * `node test/clients/web/screenshots.ts [folder]`: pictures of the main views for the README, from a separate platform
 * with real runs. Repeat it whenever the page changes.
 */

const root = fileURLToPath(new URL('../../..', import.meta.url));
const folder = process.argv[2] ?? join(root, 'test/clients/web/screenshots');

const example = (changes: [string, string][] = []): Promise<Record<string, string>> =>
  import('node:fs/promises').then(async ({ readFile }) => {
    const text = await readFile(join(root, 'infra/local/demo/example/main.tf'), 'utf8');
    return { 'main.tf': changes.reduce((changed, [from, to]) => changed.replace(from, to), text) };
  });

const waits = (run: Resource): boolean => run.attributes.actions['is-confirmable'] || isFinalRun(run);

interface Scene {
  organization: string;
  deciding: string;
  running: string;
  failed: string;
}

/** A small company's platform on an ordinary day. */
const furnish = async (client: Client, organization: string): Promise<Scene> => {
  const workspace = async (name: string, description: string, tags: string[]) => {
    const workspace = await client.create(
      `/organizations/${organization}/workspaces`,
      'workspaces',
      { name, description },
      {
        tags: { data: tags.map((tag) => ({ type: 'tags', attributes: { name: tag } })) },
      },
    );
    const secret = { key: 'database_password', value: 'correct horse', sensitive: true };
    const variable = await client.setVariable(workspace.id, secret);
    if (tags.includes('production'))
      await client.setVariable(workspace.id, { key: 'environment', value: 'production' });
    return { workspace, variable };
  };
  const run = async (
    { workspace }: { workspace: Resource },
    message: string,
    archive: Uint8Array,
    options: object = {},
  ) => {
    const version = await client.upload(workspace.id, archive);
    return client.createRun(workspace.id, { message, ...options }, version.id);
  };
  const pack = async (changes: [string, string][] = []) => packFiles(await example(changes));
  const finish = async (started: Resource) => client.waitForRun(started.id, isFinalRun);

  const network = await workspace('network-production', 'VPC, subnets and what connects them', ['aws', 'production']);
  const billing = await workspace('billing-staging', 'Invoices and payments', ['aws', 'staging']);
  const shop = await workspace('shop-production', 'The shop and its database', ['aws', 'production']);
  const search = await workspace('search-staging', 'Indexes and crawlers', ['gcp', 'staging']);
  await workspace('sandbox-mira', 'To try things out', ['sandbox']);
  await finish(await run(network, 'Three subnets for production', await pack(), { 'auto-apply': true }));
  await finish(await run(shop, 'First rollout', await pack(), { 'auto-apply': true }));
  await client.call('PATCH', `/workspaces/${shop.workspace.id}/vars/${shop.variable.id}`, {
    data: { type: 'vars', attributes: { value: 'battery staple' } },
  });
  const failed = await run(billing, 'Move to subnet d', await packFolder(join(root, 'infra/local/demo/broken')));
  await finish(failed);
  const deciding = await run(
    shop,
    'Rotate the password, move to zone d, five replicas',
    await pack([
      ['a = 0, b = 1, c = 2', 'a = 0, c = 2, d = 3'],
      ['replicas = 3', 'replicas = 5'],
    ]),
  );
  await client.waitForRun(deciding.id, waits);
  await client.createRun(shop.workspace.id, { message: 'Nightly refresh', 'refresh-only': true });
  const slow: [string, string] = ['sleep 0.3', 'sleep 4'];
  const running = await run(search, 'Add the crawler for documents', await pack([slow]), { 'auto-apply': true });
  await client.waitForRun(running.id, ({ attributes }) => attributes.status === 'applying');
  const at = (name: string, id: string) => `/app/${organization}/workspaces/${name}/runs/${id}`;
  return {
    organization,
    deciding: at('shop-production', deciding.id),
    running: at('search-staging', running.id),
    failed: at('billing-staging', failed.id),
  };
};

const moduleFiles = {
  'README.md': '# Network\n\nA network with **public** and **private** subnets in every zone, and one way out.\n',
  'main.tf': `variable "cidr_block" {
  type        = string
  description = "Addresses of the network, for example 10.0.0.0/16"
}
variable "zones" {
  type        = list(string)
  description = "Zones that get a subnet each"
  default     = ["a", "b", "c"]
}
variable "nat" {
  type        = bool
  description = "Whether private subnets reach the internet"
  default     = true
}
resource "terraform_data" "network" {
  input = var.cidr_block
}
output "network" {
  description = "What was made"
  value       = terraform_data.network.output
}
`,
};

/** A module of the registry. @returns its address */
const publish = async (client: Client, organization: string): Promise<string> => {
  const modules = `/organizations/${organization}/registry-modules`;
  const address = `private/${organization}/network/aws`;
  const module = await client.create(modules, 'registry-modules', {
    name: 'network',
    provider: 'aws',
    'registry-name': 'private',
  });
  for (const version of ['1.0.0', '1.1.0']) {
    const created = await client.create(`${modules}/${address}/versions`, 'registry-module-versions', { version });
    const body = new Uint8Array(await packFiles(moduleFiles));
    await fetch(String(created.links?.upload), { method: 'PUT', body });
  }
  await client.create(
    `/organizations/${organization}/no-code-modules`,
    'no-code-modules',
    { 'version-pin': 'latest' },
    { 'registry-module': { data: { type: 'registry-modules', id: module.id } } },
  );
  return `/app/${organization}/registry/modules/${address}`;
};

/** Policies, run tasks and team permissions: created after the runs, which they would affect. @returns addresses */
const govern = async (client: Client, organization: string) => {
  const home = `/organizations/${organization}`;
  const description = 'What every workspace in production has to keep to';
  const set = await client.create(`${home}/policy-sets`, 'policy-sets', {
    name: 'production-safety',
    kind: 'opa',
    global: true,
    overridable: true,
    description,
  });
  const version = await client.create(`/policy-sets/${set.id}/versions`, 'policy-set-versions', {});
  const files = policyFiles('deny contains "a database without backups" if false', 'mandatory');
  await fetch(String(version.links?.upload), { method: 'PUT', body: new Uint8Array(await archive(files)) });
  await client.get(`/policy-set-versions/${version.id}`);
  await client.create(`/policy-sets/${set.id}/parameters`, 'vars', {
    key: 'limit',
    value: '40',
    category: 'policy-set',
  });
  const team = await client.create(`${home}/teams`, 'teams', {
    name: 'platform',
    visibility: 'organization',
    'organization-access': { 'manage-workspaces': true, 'manage-policies': true },
  });
  for (const email of ['mira@acme.example', 'jo@acme.example']) {
    const relationships = { teams: { data: [{ type: 'teams', id: team.id }] } };
    await client.create(`${home}/organization-memberships`, 'organization-memberships', { email }, relationships);
  }
  await client.create(`/teams/${team.id}/authentication-tokens`, 'authentication-tokens', {
    description: 'CI of the platform',
    'expired-at': new Date(Date.now() + 90 * 86_400_000).toISOString(),
  });
  await client.create(`${home}/authentication-token?token=audit-trails`, 'authentication-tokens', {});
  const tags = ['team = payments', 'critical'].map((tag) => tag.split(' = '));
  const bindings = tags.map(([key, value = '']) => ({ type: 'tag-bindings', attributes: { key, value } }));
  const project = await client.create(
    `${home}/projects`,
    'projects',
    { name: 'payments', description: 'Payment services', 'default-execution-mode': 'local' },
    { 'tag-bindings': { data: bindings } },
  );
  await client.create(
    `${home}/workspaces`,
    'workspaces',
    { name: 'ledger', description: 'Accounts and bookings' },
    { project: { data: { type: 'projects', id: project.id } } },
  );
  // A rejected attempt for the audit trail.
  const fresh = await client.create(`/teams/${team.id}/authentication-token`, 'authentication-tokens', {});
  const foreign = new Client(client.url, fresh.attributes.token);
  await foreign.call('DELETE', `/teams/${team.id}`).catch(() => {});
  await client.call('DELETE', `/authentication-tokens/${fresh.id}`);
  const settings = `/app/${organization}/settings`;
  return {
    policySet: `${settings}/policy-sets/${set.id}`,
    team: `${settings}/teams/${team.id}`,
    project: `/app/${organization}/projects/${project.id}`,
    auditTrail: `${settings}/audit-trail`,
    settings: `${settings}/general`,
  };
};

const take = async (page: Page, name: string): Promise<void> => {
  await page.evaluate(() => document.fonts.ready);
  // Waits until decisions are active and names are loaded.
  await page.waitForFunction(
    () => !document.querySelector('.settling') && !document.querySelector('main')?.innerText.includes('by …'),
  );
  await page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled' });
  console.log(join(folder, `${name}.png`));
};

const platform = await PlatformProcess.start();
const browser = await startBrowser(await findBrowser());
try {
  await mkdir(folder, { recursive: true });
  const { url, token } = platform.local;
  const client = new Client(url, token);
  const organization = 'acme';
  await client.create('/organizations', 'organizations', { name: organization, email: 'ops@acme.example' });
  const scene = await furnish(client, organization);
  const visit = async (colorScheme: 'light' | 'dark', width = 1280, height = 800) => {
    const page = await browser.newPage({ baseURL: url, viewport: { width, height }, colorScheme, locale: 'en-GB' });
    await page.goto('/');
    await page.getByLabel('API token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    return page;
  };
  const light = await visit('light');
  await light.goto(scene.running);
  await light.getByLabel('Lines of the apply').getByText('preparing storage').first().waitFor();
  await take(light, 'run-applying');
  await light.goto(`/app/${organization}/workspaces`);
  await light.getByText('sandbox-mira').waitFor();
  await take(light, 'workspaces');
  await light.goto(`/app/${organization}/overview`);
  await light.getByText('Waiting for you').waitFor();
  await take(light, 'overview');
  await light.keyboard.press('Control+k');
  await light.getByRole('combobox').fill('s');
  await light.getByRole('option', { name: 'sandbox-mira' }).waitFor();
  await take(light, 'go-to');
  await light.keyboard.press('Escape');
  await light.goto(`/app/${organization}/runs`);
  await light.getByText('1 of 1 in the queue').waitFor();
  await take(light, 'runs');
  await light.goto(scene.deciding);
  await light.getByText('terraform_data.service').waitFor();
  await take(light, 'run-needs-confirmation');
  await light.goto(scene.failed);
  await light.getByLabel('Lines of the plan').getByText('Error').first().waitFor();
  await take(light, 'run-errored');
  await light.goto(await publish(client, organization));
  await light.getByText('Whether private subnets').waitFor();
  await take(light, 'module');
  const governed = await govern(client, organization);
  await light.goto(governed.policySet);
  await light.getByText('current version').waitFor();
  await take(light, 'policy-set');
  await light.goto(governed.team);
  await light.getByText('mira@acme.example').first().waitFor();
  await take(light, 'team');
  await light.goto(governed.project);
  await light.getByText('ledger').waitFor();
  await light.getByRole('button', { name: 'Add team access' }).waitFor();
  await take(light, 'project');
  await light.goto(governed.settings);
  await light.getByRole('button', { name: 'Revoke: Audit trail token' }).waitFor();
  await take(light, 'organization-settings');
  await light.goto(governed.auditTrail);
  await light.locator('.status', { hasText: 'refused' }).first().waitFor();
  await take(light, 'audit-trail');
  const dark = await visit('dark');
  await dark.goto(scene.deciding);
  await dark.getByText('terraform_data.service').waitFor();
  await take(dark, 'run-needs-confirmation-dark');
  const phone = await visit('light', 390, 844);
  await phone.goto(scene.deciding);
  await phone.getByText('terraform_data.service').waitFor();
  await take(phone, 'run-phone');
} finally {
  await browser.close();
  await platform.remove();
}
