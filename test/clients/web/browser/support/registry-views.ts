import { expect } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { until } from '#test/e2e/support/waiting.ts';
import { newName } from '#test/e2e/support/world.ts';
import { client, organization } from './reader.ts';
import type { View } from './views.ts';

/** The views of the registry, with content. */

const moduleFiles = {
  'main.tf': `variable "cidr_block" {
  type        = string
  description = "Addresses of the network, for example 10.0.0.0/16"
}
variable "zones" {
  type    = list(string)
  default = ["a", "b", "c"]
}
variable "token" {
  type      = string
  sensitive = true
  default   = ""
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
  'README.md': '# Network\n\nA network with **three** subnets.\n\n- private\n- public\n',
};

const put = async (url: string, body: Uint8Array): Promise<void> => {
  expect((await fetch(url, { method: 'PUT', body: body as unknown as BodyInit })).ok).toBe(true);
};

/** A published module, offered for workspaces; a provider without a complete version. */
export const registryViews = async (): Promise<Record<string, View>> => {
  const home = `/organizations/${organization}`;
  const name = newName('network');
  const module = await client.create(`${home}/registry-modules`, 'registry-modules', {
    name,
    provider: 'aws',
    'registry-name': 'private',
  });
  const path = `${home}/registry-modules/private/${organization}/${name}/aws`;
  const archive = await packFiles(moduleFiles);
  for (const version of ['1.0.0', '1.1.0']) {
    const created = await client.create(`${path}/versions`, 'registry-module-versions', { version });
    await put(created.links?.upload ?? '', archive);
    await until(
      () => client.get(`${path}/version?module_version=${version}`),
      ({ attributes }) => attributes.status === 'ok',
      30_000,
    );
  }
  const change = { data: { type: 'registry-modules', attributes: { 'test-config': { 'tests-enabled': true } } } };
  await client.call('PATCH', path, change);
  await client.create(
    `${home}/no-code-modules`,
    'no-code-modules',
    { 'version-pin': 'latest' },
    {
      'registry-module': { data: { type: 'registry-modules', id: module.id } },
    },
  );
  const provider = newName('cloud');
  await client.create(`${home}/registry-providers`, 'registry-providers', {
    name: provider,
    namespace: organization,
    'registry-name': 'private',
  });
  const ofProvider = `private/${organization}/${provider}`;
  await client.create(`${home}/registry-providers/${ofProvider}/versions`, 'registry-provider-versions', {
    version: '1.0.0',
    'key-id': '34365D9472D7468F',
    protocols: ['5.0'],
  });
  const registry = `/app/${organization}/registry`;
  const at = `${registry}/modules/private/${organization}/${name}/aws`;
  return {
    modules: { path: `${registry}/modules`, ready: name, open: 'Publish module' },
    module: { path: at, ready: 'three' },
    'module versions': { path: `${at}/versions`, ready: '1.0.0', open: 'Deprecate 1.0.0' },
    'run tests': { path: `${at}/test-runs`, ready: 'Run tests', open: 'Run tests' },
    'module without code': { path: `${at}/no-code`, ready: 'Allowed values' },
    'workspace from a module': { path: `${at}/new-workspace`, ready: 'Whether private subnets' },
    providers: { path: `${registry}/providers`, ready: provider },
    provider: { path: `${registry}/providers/${ofProvider}`, ready: 'incomplete' },
  };
};
