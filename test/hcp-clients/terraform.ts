import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { machineCache } from '#infra/local/host/machine-cache.ts';
import { goBuild, inScratch, sourceOf } from '#test/support/go-build.ts';

/**
 * Older command lines, built from source through the Go module proxy: `npm run clients` builds the missing ones and
 * runs their tests. It takes some twenty minutes, once. They are stored where runners look for engines, so that each
 * plans with its own version.
 */
export interface Client {
  engine: 'terraform' | 'tofu';
  version: string;
  path: string;
}

const sources = {
  terraform: { module: 'github.com/hashicorp/terraform', program: '.' },
  tofu: { module: 'github.com/opentofu/opentofu', program: './cmd/tofu' },
};

const binaries = join(process.env.STEPFORM_CACHE || machineCache, 'binaries');
const client = (engine: Client['engine'], version: string): Client => ({
  engine,
  version,
  path: join(binaries, engine, version, engine),
});

/** One of each generation that the proxy has. */
export const clients: Client[] = [
  ...['1.5.7', '1.6.6', '1.8.5'].map((version) => client('terraform', version)),
  ...['1.6.3', '1.8.11', '1.9.4', '1.12.6'].map((version) => client('tofu', version)),
];

/** The newest release that the proxy has; `terraform query` and actions came with 1.14. */
export const newestClient = client('terraform', '1.15.0');

export const isAtHand = ({ path }: Client): boolean => existsSync(path);

/** Removes backends that are separate modules since 1.14, which the proxy's archive of Terraform does not include. */
const withoutBackends = async (source: string): Promise<void> => {
  const registry = join(source, 'internal/backend/init/init.go');
  const imports =
    /\n\t(\w+) "github\.com\/hashicorp\/terraform\/internal\/backend\/remote-state\/(?!http|inmem)[^"]+"/g;
  let text = await readFile(registry, 'utf8');
  for (const [line, alias] of [...text.matchAll(imports)]) {
    text = text.replace(line, '').replaceAll(new RegExp(`\\n[^\\n]*${alias}\\.New\\(\\)[^\\n]*`, 'g'), '');
  }
  await writeFile(registry, text);
  const manifest = join(source, 'go.mod');
  const lines = (await readFile(manifest, 'utf8')).split('\n');
  await writeFile(manifest, lines.filter((line) => !/internal\/(backend\/remote-state|legacy)/.test(line)).join('\n'));
};

export const provideClient = async (one: Client): Promise<void> => {
  if (isAtHand(one)) return;
  const { engine, version, path } = one;
  console.log(`building ${engine} ${version} …`);
  const { module, program } = sources[engine];
  await inScratch(async (scratch) => {
    const folder = await sourceOf(`${module}@v${version}`, scratch);
    if (path === newestClient.path) await withoutBackends(folder);
    // Without it, the build reports a development version.
    const variables = { [`${module}/version.dev`]: 'no' };
    // The provider's test suite starts the newest one some thousand times.
    await goBuild({ folder, program, target: path, variables, isBusy: path === newestClient.path });
  });
};

/** Builds the missing ones and runs the tests that need them. @returns whether all passed */
export const runTerraformTests = async (root: string): Promise<boolean> => {
  for (const one of [...clients, newestClient]) await provideClient(one);
  const files = ['actions', 'clients', 'queries'].map((name) => `test/e2e/cli/${name}.test.ts`);
  const tests = ['test/api/clients.test.ts', ...files];
  const { status } = spawnSync('npx', ['vitest', 'run', '--config', 'test/vitest.config.ts', ...tests], {
    cwd: root,
    stdio: 'inherit',
  });
  return status === 0;
};
