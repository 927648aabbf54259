import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { client, newName, organization, platform } from '#test/e2e/support/world.ts';
import { providerFolder } from '../provider/binary.ts';
import { type ForgeServer, startForge } from '../support/forge-server.ts';

/**
 * The `tfe` provider's version control resources, with a server that answers like GitHub: each step is applied, and
 * the plan afterwards is empty.
 */

const provider = providerFolder();
if (!provider)
  console.error('Tests with the tfe provider are skipped: build it once with "npm run tfe-provider" (Go).');
const run = promisify(execFile);

let forge: ForgeServer;
let folder: string;
/** One provider process for all commands, in debug mode, because each command would otherwise start it twice. */
let plugin: ChildProcess | undefined;
let attached: string;

const environment = (): NodeJS.ProcessEnv => {
  const { hostname, port } = new URL(platform.httpsUrl ?? '');
  return {
    PATH: process.env.PATH,
    HOME: folder,
    TF_INPUT: '0',
    CHECKPOINT_DISABLE: '1',
    TF_CLI_CONFIG_FILE: join(folder, 'terraformrc'),
    TFE_HOSTNAME: `${hostname}:${port}`,
    TFE_TOKEN: platform.token,
    SSL_CERT_FILE: platform.caFile,
  };
};

const startPlugin = async (program: string): Promise<void> => {
  const child = spawn(program, ['-debug'], { cwd: folder, env: environment(), stdio: ['ignore', 'pipe', 'ignore'] });
  plugin = child;
  let said = '';
  attached = await new Promise((resolve, reject) => {
    // Reads the output to its end: a provider that writes to a closed pipe exits.
    child.stdout.on('data', (more) => {
      said += more;
      const [, address] = /TF_REATTACH_PROVIDERS='(.*)'/.exec(said) ?? [];
      if (address) resolve(address);
    });
    child.once('error', reject);
    child.once('close', () => reject(new Error(`the provider ended: ${said}`)));
  });
};

beforeAll(async () => {
  if (!provider) return;
  folder = mkdtempSync(join(tmpdir(), 'provider-'));
  forge = await startForge();
  const repository = { id: 1, full_name: 'acme/network', default_branch: 'main', permissions: { admin: true } };
  const sha = 'a'.repeat(40);
  forge.on('GET', '/repos/acme/network', { body: repository });
  forge.on('GET', /\/branches\/(main|release)$/, { body: { commit: { sha } } });
  forge.on('GET', /\/commits\//, { body: { sha, commit: { message: 'A commit' } } });
  forge.on('GET', /\/hooks$/, { body: [] });
  forge.on('POST', /\/hooks$/, { status: 201, body: { id: 5 } });
  forge.on('DELETE', /\/hooks\/5$/, { status: 204 });
  const overrides = `provider_installation {
  dev_overrides { "hashicorp/tfe" = "${provider}" }
  direct {}
}`;
  writeFileSync(join(folder, 'terraformrc'), overrides);
  await startPlugin(join(provider, 'terraform-provider-tfe'));
});
afterAll(async () => {
  plugin?.kill();
  await forge?.close();
  if (folder) rmSync(folder, { recursive: true });
});

const terraform = async (...words: string[]): Promise<string> => {
  const env = { ...environment(), TF_REATTACH_PROVIDERS: attached };
  const { stdout } = await run('terraform', [...words, '-no-color'], { cwd: folder, env }).catch((error) => {
    throw new Error(`${error.stdout}\n${error.stderr}`);
  });
  return stdout;
};

const name = newName('tfe');
const configuration = ({ token = 'good', workspace = '', set = '' }) => `
terraform {
  required_providers {
    tfe = { source = "hashicorp/tfe" }
  }
}
resource "tfe_oauth_client" "hub" {
  name                = "${name}"
  organization        = "${organization}"
  api_url             = "${forge.url}"
  http_url            = "${forge.url}"
  oauth_token         = "${token}"
  service_provider    = "github_enterprise"
  organization_scoped = true
}
resource "tfe_project" "one" {
  name         = "${name}"
  organization = "${organization}"
}
resource "tfe_project_oauth_client" "one" {
  oauth_client_id = tfe_oauth_client.hub.id
  project_id      = tfe_project.one.id
}
resource "tfe_workspace" "one" {
  name                  = "${name}"
  organization          = "${organization}"
  queue_all_runs        = false
  file_triggers_enabled = ${workspace.includes('tags_regex') ? 'false' : 'true'}
  ${workspace}
}
resource "tfe_policy_set" "one" {
  name         = "${name}"
  organization = "${organization}"
  kind         = "opa"
  ${set}
}
output "token" {
  value = tfe_oauth_client.hub.oauth_token_id
}
`;

const vcs = (more = ''): string => `vcs_repo {
    identifier     = "acme/network"
    oauth_token_id = tfe_oauth_client.hub.oauth_token_id
    ${more}
  }`;

/** Applies the change. @returns id of the OAuth token */
const settled = async (change: Parameters<typeof configuration>[0]): Promise<string> => {
  writeFileSync(join(folder, 'main.tf'), configuration(change));
  await terraform('apply', '-auto-approve');
  expect(await terraform('plan')).toContain('No changes.');
  return JSON.parse(await terraform('output', '-json')).token.value;
};

describe.skipIf(!provider)('the tfe provider', () => {
  it('connects, follows, changes and disconnects, with an empty plan after each step', async () => {
    const id = await settled({ workspace: vcs(), set: vcs('branch = "main"') });
    await settled({ workspace: vcs('branch = "release"'), set: vcs('branch = "main"') });
    await settled({ workspace: vcs('tags_regex = "v\\\\d+"'), set: vcs() });
    await settled({ workspace: vcs('ingress_submodules = true'), set: vcs('ingress_submodules = true') });
    forge.tokens.add('rotated');
    expect(await settled({ token: 'rotated', workspace: vcs(), set: vcs() })).toBe(id);
    await settled({ token: 'rotated' });
    const [workspace] = await client.list(`/organizations/${organization}/workspaces?search[name]=${name}`);
    expect(workspace?.attributes['vcs-repo']).toBeNull();
    await terraform('destroy', '-auto-approve');
  });
});
