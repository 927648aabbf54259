import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { packFolder } from '../../../functions/cli/archive.ts';
import { zipOf } from './zip-of.ts';

/** A provider whose resource is a file anywhere, so that a test can change by hand what Terraform manages. */

const run = promisify(execFile);
const source = join(import.meta.dirname, 'drift-provider');
const built = join(import.meta.dirname, '../../../.build/drift-provider/terraform-provider-drift');

const platform = `${process.platform === 'darwin' ? 'darwin' : 'linux'}_${process.arch === 'arm64' ? 'arm64' : 'amd64'}`;

export const hasGo = spawnSync('go', ['version']).status === 0;

/** A configuration's archive with the provider where `terraform init` finds it. Builds it when it is not there yet. */
export const withDriftProvider = async (main: string): Promise<Buffer> => {
  if (!existsSync(built)) {
    await mkdir(dirname(built), { recursive: true });
    const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=mod' };
    await run('go', ['build', '-trimpath', '-ldflags=-s -w', '-o', built, '.'], { cwd: source, env });
  }
  const folder = await mkdtemp(join(tmpdir(), 'drift-provider-'));
  const plugins = join(folder, 'terraform.d/plugins/example.com/test/drift');
  await mkdir(plugins, { recursive: true });
  const zip = zipOf('terraform-provider-drift_v1.0.0', await readFile(built));
  await writeFile(join(plugins, `terraform-provider-drift_1.0.0_${platform}.zip`), zip);
  const needs = 'terraform {\n  required_providers {\n    drift = { source = "example.com/test/drift" }\n  }\n}\n';
  await writeFile(join(folder, 'main.tf'), needs + main);
  return packFolder(folder);
};
