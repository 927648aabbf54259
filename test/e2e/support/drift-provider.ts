import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packFolder } from '#clients/cli/archive.ts';
import { sha256Of } from '#platform/store/integrity.ts';
import { zip } from '#test/runner/program/zip.ts';
import { goBuild, inScratch } from '#test/support/go-build.ts';

/** Providers for tests: Terraform finds them in the configuration itself. */

const source = join(import.meta.dirname, 'providers');

const platform = `${process.platform === 'darwin' ? 'darwin' : 'linux'}_${process.arch === 'arm64' ? 'arm64' : 'amd64'}`;

export const hasGo = spawnSync('go', ['version']).status === 0;

/** Builds a provider if it does not exist yet. */
const build = async (name: 'drift' | 'listed'): Promise<Buffer> => {
  const version = sha256Of(await readFile(join(source, name, 'main.go'))).slice(0, 12);
  const built = join(source, `../../../../.build/providers/${version}/terraform-provider-${name}`);
  if (!existsSync(built)) {
    await inScratch(async (folder) => {
      // Go completes go.mod with the versions that its one requirement names, and verifies their checksums.
      await cp(source, folder, { recursive: true });
      await goBuild({ folder, program: `./${name}`, target: built });
    });
  }
  return readFile(built);
};

/** Puts the provider where `terraform init` in that folder finds it. */
const providerIn = async (folder: string, name: string, program: Buffer): Promise<void> => {
  const plugins = join(folder, `terraform.d/plugins/example.com/test/${name}`);
  await mkdir(plugins, { recursive: true });
  const archive = zip(`terraform-provider-${name}_v1.0.0`, program, 0o755);
  await writeFile(join(plugins, `terraform-provider-${name}_1.0.0_${platform}.zip`), archive);
};

const needs = (name: string): string =>
  `terraform {\n  required_providers {\n    ${name} = { source = "example.com/test/${name}" }\n  }\n}\n`;

/** Archive of a configuration with a provider whose resource is a file anywhere, which a test can change by hand. */
export const withDriftProvider = async (main: string): Promise<Buffer> => {
  const folder = await mkdtemp(join(tmpdir(), 'drift-provider-'));
  await providerIn(folder, 'drift', await build('drift'));
  await writeFile(join(folder, 'main.tf'), needs('drift') + main);
  return packFolder(folder);
};

/** The same with the provider as a program instead of an archive, which Terraform installs by a link. */
export const withUnpackedProvider = async (main: string): Promise<Buffer> => {
  const folder = await mkdtemp(join(tmpdir(), 'unpacked-provider-'));
  const plugins = join(folder, `terraform.d/plugins/example.com/test/drift/1.0.0/${platform}`);
  await mkdir(plugins, { recursive: true });
  await writeFile(join(plugins, 'terraform-provider-drift_v1.0.0'), await build('drift'), {
    mode: 0o755,
  });
  await writeFile(join(folder, 'main.tf'), needs('drift') + main);
  return packFolder(folder);
};

/** The same with a script in place of the provider, which can start it as `./real-provider` in any folder where Terraform runs. */
export const withScriptAsProvider = async (main: string, script: string): Promise<Buffer> => {
  const folder = await mkdtemp(join(tmpdir(), 'script-provider-'));
  await providerIn(folder, 'drift', Buffer.from(script));
  await writeFile(join(folder, 'real-provider'), await build('drift'), { mode: 0o755 });
  await writeFile(join(folder, 'main.tf'), needs('drift') + main);
  return packFolder(folder);
};

/** Puts a provider that lists the files of a folder, for `terraform query`, into a configuration's folder. */
export const withQueryProvider = async (folder: string): Promise<void> => {
  await providerIn(folder, 'listed', await build('listed'));
  await writeFile(join(folder, 'provider.tf'), needs('listed'));
};
