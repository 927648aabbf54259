import { messageOf } from '#platform/net/transport/errors.ts';
import type { Phase } from './phase.ts';
import type { Prepared } from './prepared.ts';
import { inWorkingDirectory, readLockFile } from './workspace/record.ts';

/**
 * Gives Terraform the locked providers that are available without a download: from the machine's cache, or from the
 * platform if the disk is deleted with the runner. Skipped if the machine's owner or the workspace has configured a
 * cache. Terraform installs missing providers.
 */
export const offerProviders = async (phase: Phase, prepared: Prepared): Promise<void> => {
  const { settings, job, timings, environment, files } = phase;
  if (settings.inherited.TF_PLUGIN_CACHE_DIR) return;
  if (!settings.providerCache && !job.sharedProviderHosts) return;
  const offer = settings.providerCache ? offerKept : offerShared;
  try {
    if (await timings.measure('providers', () => offer(phase, prepared))) {
      environment.TF_PLUGIN_CACHE_DIR = files.pluginCache;
    }
  } catch (error) {
    delete environment.TF_PLUGIN_CACHE_DIR;
    console.error(`The provider cache is not used: ${messageOf(error)}`);
  }
};

const lockFileOf = (phase: Phase, prepared: Prepared): string =>
  inWorkingDirectory(phase, prepared, (folder) => readLockFile(folder, phase.user.owner))?.toString('utf8') ?? '';

const offerKept = async (phase: Phase, prepared: Prepared): Promise<boolean> => {
  const { files, settings, user, afterwards } = phase;
  const { ProviderCache } = await import('./workspace/provider-cache.ts');
  const cache = new ProviderCache(settings.providerCache ?? '', prepared.binary.platform);
  await cache.offer(lockFileOf(phase, prepared), files.pluginCache, user.owner);
  const recorded = () => prepared.lockFile?.toString('utf8') ?? '';
  afterwards.addWork('Keeping the providers', () => cache.keep(recorded(), files.providers, files.pluginCache));
  return true;
};

const offerShared = async (phase: Phase, prepared: Prepared): Promise<boolean> => {
  const { sharedProviders } = await import('./shared-providers.ts');
  return sharedProviders(phase, prepared, lockFileOf(phase, prepared));
};
