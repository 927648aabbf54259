import { afterAll, beforeAll, expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { zip } from '#test/runner/program/zip.ts';
import { type ProviderRegistry, startProviderRegistry } from '#test/support/provider-registry.ts';
import { storedIn } from '#test/support/stored.ts';
import { PlatformProcess } from './support/platform.ts';
import { Client, followLog, isFinalRun, until } from './support/waiting.ts';
import { newName } from './support/world.ts';

/** Runners without their own disk, as on AWS, get providers from the bucket; the platform fetches each once. */

const program = Buffer.from('#!/bin/sh\nexit 1\n');
let registry: ProviderRegistry;
let platform: PlatformProcess;
let client: Client;
let fake: { address: string; sha256: string };
beforeAll(async () => {
  registry = await startProviderRegistry();
  fake = registry.add('fake', '1.2.3', zip('terraform-provider-fake_v1.2.3', program));
  platform = await PlatformProcess.start({
    STEPFORM_SHARED_PROVIDER_HOSTS: registry.host,
    SSL_CERT_FILE: registry.caFile,
    NODE_EXTRA_CA_CERTS: registry.caFile,
  });
  client = new Client(platform.local.url, platform.local.token);
});
afterAll(async () => {
  await platform.remove();
  await registry.close();
});

const configuration = (address: string) =>
  `terraform {\n  required_providers {\n    fake = {\n      source = "${address}"\n    }\n  }\n}\n`;
/** A lock file written on another platform: with the checksums of zips, and none of their contents. */
const lock = (address: string, sha256: string) =>
  `provider "${address}" {\n  version = "1.2.3"\n  hashes = [\n    "zh:${sha256}",\n  ]\n}\n`;

/** The log of a plan; the provider is a fake, so the plan fails once `init` has installed it. */
const planned = async (sha256?: string): Promise<string> => {
  const { address } = fake;
  const workspace = await client.createWorkspace(platform.local.organization, newName());
  const files = {
    'main.tf': configuration(address),
    ...(sha256 ? { '.terraform.lock.hcl': lock(address, sha256) } : {}),
  };
  const version = await client.upload(workspace.id, await packFiles(files));
  const run = await client.waitForRun((await client.createRun(workspace.id, {}, version.id)).id, isFinalRun);
  const url = (await client.phase(run, 'plan')).attributes['log-read-url'];
  let text = '';
  for await (const more of followLog(url, async () => true)) text += more;
  return text;
};
const stored = () => storedIn(platform.dataDir).filter(({ place }) => place.includes(`/providers/${fake.sha256}.zip`));
const fetches = () => registry.downloads.filter((one) => one.startsWith('stepform'));

const installed = 'Installed localhost';
const shared = 'from the shared cache directory';

it('the platform fetches providers in a lock file for later runs, and none without a lock file', async () => {
  expect(await planned()).toContain(installed);
  expect(fetches()).toEqual([]);
  expect(await planned(fake.sha256)).toContain(installed);
  await until(
    async () => stored(),
    (files) => files.length > 0,
    60_000,
  );
  const downloads = registry.downloads.length;
  const log = await planned(fake.sha256);
  expect(log).toContain(shared);
  expect(log).not.toContain(installed);
  expect(registry.downloads).toHaveLength(downloads);
  expect(fetches()).toEqual(['stepform fake']);
});

it('a run gets no provider whose checksum differs from its lock file', async () => {
  const log = await planned('0'.repeat(64));
  expect(log).not.toContain(shared);
  expect(log).toMatch(/checksum/);
});
