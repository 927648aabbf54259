import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { machineCache } from '#infra/local/host/machine-cache.ts';
import { goBuild, inScratch, sourceOf } from '#test/support/go-build.ts';

/**
 * The coder command line and its Terraform provider, built from source for tests alone: `npm run coder`, once per
 * machine.
 */

const cliVersion = '2.29.1';
const providerVersion = '2.13.1';
const architecture = process.arch === 'x64' ? 'amd64' : process.arch;

const cli = join(process.env.STEPFORM_CACHE || machineCache, `coder-${cliVersion}`, 'coder');
/** Terraform looks there before it asks a registry (Terraform: implied local mirror directories). */
const mirror = '/usr/local/share/terraform/plugins';
const provider = join(
  mirror,
  `registry.terraform.io/coder/coder/${providerVersion}/${process.platform}_${architecture}`,
  `terraform-provider-coder_v${providerVersion}`,
);

/** Undefined if one of them is missing. */
export const coderAtHand = (): string | undefined => (existsSync(cli) && existsSync(provider) ? cli : undefined);

export const howToHaveCoder = `no coder ${cliVersion} and provider ${providerVersion} on this machine; "npm run coder" builds them with Go`;

/** Replaces a subcommand that needs a module which public proxies lack. */
const withoutBoundary = async (source: string): Promise<void> => {
  await writeFile(
    join(source, 'cli/exp_boundary.go'),
    'package cli\n\nimport "github.com/coder/serpent"\n\nfunc (*RootCmd) boundary() *serpent.Command {\n\treturn &serpent.Command{Use: "boundary", Hidden: true}\n}\n',
  );
  const manifest = await readFile(join(source, 'go.mod'), 'utf8');
  const lines = manifest.split('\n').filter((line) => !line.includes('coder/boundary'));
  await writeFile(join(source, 'go.mod'), lines.join('\n'));
};

/** @returns the path of the command line; builds it and the provider if they are not there yet */
export const provideCoder = async (signal?: AbortSignal): Promise<string> => {
  await inScratch(async (scratch) => {
    if (!existsSync(provider)) {
      const folder = await sourceOf(
        `github.com/coder/terraform-provider-coder/v2@v${providerVersion}`,
        scratch,
        signal,
      );
      await goBuild({ folder, program: '.', target: provider, signal });
    }
    if (existsSync(cli)) return;
    const folder = await sourceOf(`github.com/coder/coder/v2@v${cliVersion}`, scratch, signal);
    await withoutBoundary(folder);
    const variables = { 'github.com/coder/coder/v2/buildinfo.tag': cliVersion };
    await goBuild({ folder, program: './cmd/coder', target: cli, tags: ['slim'], variables, signal });
  });
  return cli;
};

if (import.meta.main) console.log(await provideCoder());
