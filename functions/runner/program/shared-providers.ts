import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '#platform/net/transport/errors.ts';
import { retryFor } from '#platform/net/transport/retry.ts';
import { hostOf } from '#run/protocols/provider-package.ts';
import { maxProviders, type SharedProvider } from '#run/protocols/runner.ts';
import { unzipAll } from './binary/unzip.ts';
import type { Phase } from './phase.ts';
import type { Prepared } from './prepared.ts';
import { download, toFile } from './transfer.ts';
import { giveFolders, type LockedProvider, lockedProviders, packageChecksum } from './workspace/provider-cache.ts';
import { inWorkingDirectory } from './workspace/record.ts';
import { makeFolder } from './workspace/tree.ts';

/** Providers in the platform's bucket, for runners whose disk is deleted when they end (decisions/0082). */

/** A longer request would take more time than it saves. */
const askMs = 5_000;
const downloadMs = 120_000;
const limits = { files: 1000, bytes: 2 * 2 ** 30 };

/**
 * Creates a plugin cache of the locked providers that the platform has. Content whose checksum is not in
 * the lock file is rejected.
 * @param lockFile text of the dependency lock file
 * @returns whether the cache has any provider
 */
export const sharedProviders = async (phase: Phase, prepared: Prepared, lockFile: string): Promise<boolean> => {
  const { job, client, control, files, user } = phase;
  const { platform } = prepared.binary;
  const missingProviders = lockedProviders(lockFile)
    .filter(({ address }) => job.sharedProviderHosts?.includes(hostOf(address)))
    .filter(({ archives, checksums }) => archives.length + checksums.length > 0)
    .slice(0, maxProviders);
  if (missingProviders.length === 0) return false;
  const names = missingProviders.map(({ address, version }) => ({ address: address.toLowerCase(), version }));
  const patience = { ...retryFor(askMs), signal: control.asked };
  const { providers } = await client.providers({ platform, providers: names }, patience);
  makeFolder(files.pluginCache, 0o755);
  const offered = await Promise.all(
    missingProviders.map(async (locked) => {
      const shared = providers.find((provider) => isSame(provider, locked));
      return shared ? { locked, checksum: await offer(phase, shared, locked, platform) } : undefined;
    }),
  );
  const used = offered.flatMap((provider) =>
    provider?.checksum ? [{ ...provider.locked, checksum: provider.checksum }] : [],
  );
  const text = withChecksums(lockFile, used);
  if (text !== lockFile) {
    inWorkingDirectory(phase, prepared, (folder) => folder.write('.terraform.lock.hcl', text, 0o600, user.owner));
  }
  if (user.owner) giveFolders(files.pluginCache, user.owner);
  return used.length > 0;
};

const isSame = (provider: SharedProvider, { address, version }: LockedProvider): boolean =>
  provider.address === address.toLowerCase() && provider.version === version;

/**
 * Downloads one provider.
 * @returns its checksum (`h1`); undefined if it is not available or does not match the lock file, so that Terraform
 * installs it
 */
const offer = async (
  { files, control }: Phase,
  { url, sha256 }: SharedProvider,
  { address, version, archives, checksums }: LockedProvider,
  platform: string,
): Promise<string | undefined> => {
  const archive = files.own(`provider-${sha256.replaceAll(/\W/g, '')}.zip`);
  const target = join(files.pluginCache, address, version, platform);
  try {
    const patience = { ...control.patience(downloadMs), signal: control.asked };
    await download(address, url, patience, toFile(archive, address, `sha256:${sha256}`));
    makeFolder(target, 0o755);
    await unzipAll(archive, target, limits);
    const checksum = await packageChecksum(target);
    if (archives.includes(sha256) || checksums.includes(checksum)) return checksum;
    throw new Error('its checksum is not in the lock file');
  } catch (error) {
    console.error(`${address} ${version} is not taken from the platform: ${messageOf(error)}`);
    rmSync(target, { recursive: true, force: true });
    return undefined;
  } finally {
    rmSync(archive, { force: true });
  }
};

/**
 * Adds each provider's `h1` to the lock file, as an installation of its zip would. Terraform uses a cached provider
 * only with its `h1`, but a lock file written on another platform has only the zip's checksum.
 */
const withChecksums = (lockFile: string, used: (LockedProvider & { checksum: string })[]): string => {
  let text = lockFile;
  for (const { address, checksum, checksums } of used) {
    if (checksums.includes(checksum)) continue;
    const at = text.indexOf('  hashes = [\n', text.indexOf(`provider "${address}" {\n`));
    if (at >= 0) text = text.slice(0, at) + text.slice(at).replace('[\n', `[\n    "h1:${checksum}",\n`);
  }
  return text;
};
