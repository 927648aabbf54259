import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { machineCache } from '#infra/local/host/machine-cache.ts';
import { zip } from '#test/runner/program/zip.ts';

const run = promisify(execFile);

/** HashiCorp providers that the Go module proxy has, by type: built once, in about a minute. */
const modules = {
  time: { release: '0.14.2', module: '0.14.2' },
  random: { release: '3.8.0', module: '1.3.2-0.20260824155315-e1092b0cfc07' },
};

export type RealProvider = { type: string; version: string; zip: Buffer };

const build = async (type: keyof typeof modules, target: string): Promise<void> => {
  const scratch = await mkdtemp(join(tmpdir(), 'provider-'));
  try {
    const module = `github.com/hashicorp/terraform-provider-${type}@v${modules[type].module}`;
    const { stdout } = await run('go', ['mod', 'download', '-json', module], { cwd: scratch });
    const source = join(scratch, 'source');
    await cp((JSON.parse(stdout) as { Dir: string }).Dir, source, { recursive: true });
    await run('chmod', ['-R', 'u+w', source]);
    await run('go', ['build', '-trimpath', '-ldflags', '-s -w', '-o', join(scratch, 'built'), '.'], { cwd: source });
    await mkdir(dirname(target), { recursive: true });
    await rename(join(scratch, 'built'), target).catch(() => cp(join(scratch, 'built'), target));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
};

/** @throws {Error} without Go and the module proxy */
export const realProviders = async (): Promise<RealProvider[]> => {
  const all: RealProvider[] = [];
  for (const type of Object.keys(modules) as (keyof typeof modules)[]) {
    const { release: version, module } = modules[type];
    const file = join(process.env.STEPFORM_CACHE || machineCache, 'built-providers', `${type}-${module}`);
    if (!existsSync(file)) await build(type, file);
    all.push({ type, version, zip: zip(`terraform-provider-${type}_v${version}`, await readFile(file), 0o755) });
  }
  return all;
};
