import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { packFolder } from '../../../functions/cli/archive.ts';
import { zipOf } from './zip-of.ts';

/** Providers that are built for tests: Terraform finds them in the configuration itself. */

const run = promisify(execFile);
const here = import.meta.dirname;

const platform = `${process.platform === 'darwin' ? 'darwin' : 'linux'}_${process.arch === 'arm64' ? 'arm64' : 'amd64'}`;

export const hasGo = spawnSync('go', ['version']).status === 0;

/** Puts the provider where `terraform init` in that folder finds it. Builds it when it is not there yet. */
const providerIn = async (folder: string, name: string, source: string): Promise<void> => {
  const built = join(here, `../../../.build/${source}/terraform-provider-${name}`);
  if (!existsSync(built)) {
    await mkdir(dirname(built), { recursive: true });
    const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=mod' };
    await run('go', ['build', '-trimpath', '-ldflags=-s -w', '-o', built, '.'], { cwd: join(here, source), env });
  }
  const plugins = join(folder, `terraform.d/plugins/example.com/test/${name}`);
  await mkdir(plugins, { recursive: true });
  const zip = zipOf(`terraform-provider-${name}_v1.0.0`, await readFile(built));
  await writeFile(join(plugins, `terraform-provider-${name}_1.0.0_${platform}.zip`), zip);
};

const needs = (name: string): string =>
  `terraform {\n  required_providers {\n    ${name} = { source = "example.com/test/${name}" }\n  }\n}\n`;

/** A configuration's archive with a provider whose resource is a file anywhere, which a test can change by hand. */
export const withDriftProvider = async (main: string): Promise<Buffer> => {
  const folder = await mkdtemp(join(tmpdir(), 'drift-provider-'));
  await providerIn(folder, 'drift', 'drift-provider');
  await writeFile(join(folder, 'main.tf'), needs('drift') + main);
  return packFolder(folder);
};

/** Puts a provider that lists the files of a folder, for `terraform query`, into a configuration's folder. */
export const withQueryProvider = async (folder: string): Promise<void> => {
  await providerIn(folder, 'listed', 'query-provider');
  await writeFile(join(folder, 'provider.tf'), needs('listed'));
};
