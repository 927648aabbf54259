import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packFiles } from '#clients/cli/archive.ts';
import { Client, until } from '#clients/client/client.ts';
import { PlatformProcess } from '#test/e2e/support/platform.ts';
import { type ProviderRegistry, startProviderRegistry } from '#test/support/provider-registry.ts';
import { type Figure, median, round, type Section } from './figures.ts';
import { realProviders } from './real-providers.ts';

const times = 5;
/** Download rate of the registry in bytes per second: about one connection to a public one. */
const registrySpeed = 25 * 2 ** 20;

type Files = Record<string, string>;

/** Includes the lock file that Terraform writes for the configuration. */
const configurationOf = async (registry: ProviderRegistry, sources: Record<string, string>): Promise<Files> => {
  const required = Object.entries(sources).map(
    ([type, source]) => `    ${type} = {\n      source = "${source}"\n    }\n`,
  );
  const main = `terraform {\n  required_providers {\n${required.join('')}  }\n}\nresource "time_static" "a" {}\nresource "random_pet" "b" {}\n`;
  const folder = await mkdtemp(join(tmpdir(), 'stepform-init-'));
  await writeFile(join(folder, 'main.tf'), main);
  const env = { ...process.env, SSL_CERT_FILE: registry.caFile, CHECKPOINT_DISABLE: '1', TF_PLUGIN_CACHE_DIR: '' };
  await promisify(execFile)('terraform', ['init', '-input=false'], { cwd: folder, env });
  const lock = await readFile(join(folder, '.terraform.lock.hcl'), 'utf8');
  await rm(folder, { recursive: true });
  return { 'main.tf': main, '.terraform.lock.hcl': lock };
};

/** Milliseconds of a plan's `terraform init`, including the runner's preparation. */
const initOf = async ({ local, dataDir }: PlatformProcess, files: Files): Promise<number> => {
  const client = new Client(local.url, local.token);
  const workspace = await client.createWorkspace(local.organization, `init-${Date.now()}`);
  const version = await client.upload(workspace.id, await packFiles(files));
  const run = await client.createRun(workspace.id, { 'plan-only': true }, version.id);
  const { attributes } = await client.waitForRun(run.id, ({ attributes: { status } }) => /fin|err/.test(status));
  if (attributes.status !== 'planned_and_finished') throw new Error(`the run ended ${attributes.status}`);
  const logs = join(dataDir, 'logs');
  const lines = (await readdir(logs)).map((name) => readFile(join(logs, name), 'utf8'));
  const ended = (await Promise.all(lines)).join('\n').match(new RegExp(`.*"phase ended".*"${run.id}".*`))?.[0];
  const { init, providers = 0 } = JSON.parse(ended ?? '').timings as { init: number; providers?: number };
  return init + providers;
};

export const init: Section = {
  about: `terraform init with two real providers from a registry that sends ${registrySpeed / 2 ** 20} MiB/s, first and later`,
  needsPlatform: false,
  async *measure(): AsyncGenerator<Figure> {
    const registry = await startProviderRegistry({ bytesPerSecond: registrySpeed });
    const providers = await realProviders();
    const sources = Object.fromEntries(
      providers.map((one) => [one.type, registry.add(one.type, one.version, one.zip).address]),
    );
    const files = await configurationOf(registry, sources);
    const trust = { SSL_CERT_FILE: registry.caFile, NODE_EXTRA_CA_CERTS: registry.caFile };
    const homes: { name: string; env: Record<string, string> }[] = [
      { name: 'cache on disk', env: { STEPFORM_CACHE: await mkdtemp(join(tmpdir(), 'stepform-cache-')) } },
      { name: 'cache in the bucket', env: { STEPFORM_SHARED_PROVIDER_HOSTS: registry.host } },
    ];
    for (const { name, env } of homes) {
      const platform = await PlatformProcess.start({ ...trust, ...env });
      const isFilled = () => globSync('**/providers/*.zip*', { cwd: platform.dataDir }).length >= providers.length;
      try {
        const first = await initOf(platform, files);
        if (!('STEPFORM_CACHE' in env)) await until(async () => isFilled(), Boolean, 60_000);
        const later: number[] = [];
        for (let i = 0; i < times; i++) later.push(await initOf(platform, files));
        yield { name: `${name}: first init`, value: round(first), unit: 'ms' };
        yield { name: `${name}: later ones, median of ${times}`, value: round(median(later)), unit: 'ms' };
        yield { name: `${name}: later to first`, value: round(median(later) / first, 2), unit: '×' };
      } finally {
        await platform.remove();
      }
    }
    await registry.close();
  },
};
