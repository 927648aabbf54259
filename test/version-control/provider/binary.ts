import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { machineCache } from '#infra/local/host/machine-cache.ts';
import { goBuild, inScratch, sourceOf } from '#test/support/go-build.ts';

/** Terraform's provider `tfe`, built from source for tests only, once per machine: `npm run tfe-provider`. */

const version = '0.79.0';
const kept = join(machineCache, `tfe-provider-${version}`, 'terraform-provider-tfe');

/** The folder with its binary; undefined if it was not built. STEPFORM_TFE_PROVIDER names another one. */
export const providerFolder = (): string | undefined =>
  process.env.STEPFORM_TFE_PROVIDER ?? (existsSync(kept) ? dirname(kept) : undefined);

/** @returns the path of the binary, after building it if necessary */
const provideTfeProvider = async (): Promise<string> => {
  if (existsSync(kept)) return kept;
  await inScratch(async (scratch) => {
    const folder = await sourceOf(`github.com/hashicorp/terraform-provider-tfe@v${version}`, scratch);
    await goBuild({ folder, program: '.', target: kept });
  });
  return kept;
};

if (import.meta.main) console.log(await provideTfeProvider());
