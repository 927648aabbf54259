import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { machineCache } from '../../../infra/local/machine-cache.ts';

/**
 * The command line and the Terraform provider that environments are for, built from source for tests alone:
 * `npm run coder`. It takes some fifteen minutes, once.
 */

const run = promisify(execFile);
const cliVersion = '2.29.1';
const providerVersion = '2.13.1';
const architecture = process.arch === 'x64' ? 'amd64' : process.arch;

const cli = join(process.env.STEPFORM_CACHE || machineCache, `coder-${cliVersion}`, 'coder');
/** Where every Terraform looks before it asks a registry (Terraform: implied local mirror directories). */
const mirror = '/usr/local/share/terraform/plugins';
const provider = join(
  mirror,
  `registry.terraform.io/coder/coder/${providerVersion}/${process.platform}_${architecture}`,
  `terraform-provider-coder_v${providerVersion}`,
);

/** Undefined where one of them is missing. */
export const coderAtHand = (): string | undefined => (existsSync(cli) && existsSync(provider) ? cli : undefined);

export const howToHaveCoder = `no coder ${cliVersion} and provider ${providerVersion} on this machine; "npm run coder" builds them with Go`;

/** Source of a Go module, to be changed and built in a scratch folder. */
export const sourceOf = async (module: string, scratch: string): Promise<string> => {
  const { stdout } = await run('go', ['mod', 'download', '-json', module], { cwd: scratch, maxBuffer: 1 << 26 });
  const folder = join(scratch, module.replaceAll(/\W/g, '-'));
  await cp((JSON.parse(stdout) as { Dir: string }).Dir, folder, { recursive: true });
  await run('chmod', ['-R', 'u+w', folder]);
  return folder;
};

/** One of its subcommands needs a module that public proxies lack. */
const withoutBoundary = async (source: string): Promise<void> => {
  await writeFile(
    join(source, 'cli/exp_boundary.go'),
    'package cli\n\nimport "github.com/coder/serpent"\n\nfunc (*RootCmd) boundary() *serpent.Command {\n\treturn &serpent.Command{Use: "boundary", Hidden: true}\n}\n',
  );
  const manifest = await readFile(join(source, 'go.mod'), 'utf8');
  const lines = manifest.split('\n').filter((line) => !line.includes('coder/boundary'));
  await writeFile(join(source, 'go.mod'), lines.join('\n'));
};

/** @param args of `go build`, the package last */
export const build = async (source: string, args: string[], target: string): Promise<void> => {
  const built = join(source, 'built');
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '' };
  await run('go', ['build', ...args.slice(0, -1), '-o', built, args.at(-1) ?? '.'], {
    cwd: source,
    env,
    maxBuffer: 1 << 26,
  });
  await mkdir(dirname(target), { recursive: true });
  await copyFile(built, target);
};

const buildAll = async (): Promise<void> => {
  const scratch = await mkdtemp(join(tmpdir(), 'coder-'));
  try {
    if (!existsSync(provider)) {
      const source = await sourceOf(`github.com/coder/terraform-provider-coder/v2@v${providerVersion}`, scratch);
      await build(source, ['.'], provider);
    }
    if (existsSync(cli)) return;
    const source = await sourceOf(`github.com/coder/coder/v2@v${cliVersion}`, scratch);
    await withoutBoundary(source);
    const flags = `-s -w -X github.com/coder/coder/v2/buildinfo.tag=${cliVersion}`;
    await build(source, ['-mod=mod', '-tags', 'slim', '-ldflags', flags, './cmd/coder'], cli);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
};

if (import.meta.main) {
  await buildAll();
  console.log(cli);
}
