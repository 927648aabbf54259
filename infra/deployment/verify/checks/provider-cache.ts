import { type Check, expect, ok, skipped } from '../check.ts';
import type { Platform } from '../platform.ts';

const address = 'registry.terraform.io/hashicorp/null';
const version = '3.2.3';
const main = `terraform {
  required_providers {
    null = { source = "hashicorp/null", version = "${version}" }
  }
}
`;
const shared = 'from the shared cache directory';

/** Checksums of the provider's packages, as its registry publishes them. Undefined if it cannot be reached from here. */
const lockFile = async (): Promise<string | undefined> => {
  const sums = await Promise.all(
    ['amd64', 'arm64'].map(async (architecture) => {
      const url = `https://registry.terraform.io/v1/providers/hashicorp/null/${version}/download/linux/${architecture}`;
      const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
      return ((await response.json()) as { shasum: string }).shasum;
    }),
  ).catch(() => undefined);
  const hashes = sums?.map((sum) => `    "zh:${sum}",\n`).join('');
  return hashes && `provider "${address}" {\n  version = "${version}"\n  hashes = [\n${hashes}  ]\n}\n`;
};

const planned = async (platform: Platform, lock: string): Promise<string> => {
  const workspace = await platform.newWorkspace('provider');
  const files = { 'main.tf': main, '.terraform.lock.hcl': lock };
  const { run } = await platform.start(workspace, files, { 'plan-only': true });
  return platform.log(await platform.ended(run, 'planned_and_finished'), 'plan');
};

export const providerCache: Check = {
  name: 'provider cache',
  proves: 'A provider in the lock file is fetched once, and later runs get it from the bucket',
  documented: 'the second run installs it from the shared cache',
  async perform(platform) {
    if (platform.target.kind !== 'aws') return skipped('runs on one machine share its disk, and may have no network');
    const lock = await lockFile();
    if (!lock) return skipped('registry.terraform.io cannot be reached from here');
    if ((await planned(platform, lock)).includes(shared)) return ok('from the bucket, since an earlier run');
    // The platform fetches it while that run continues.
    expect((await planned(platform, lock)).includes(shared), 'the second run downloaded it again');
    return ok('fetched with the first run, from the bucket for the second');
  },
};
