import { join } from 'node:path';
import { messageOf } from '../transport/errors.ts';
import type { Phase } from './phase.ts';
import type { Prepared } from './prepared.ts';
import { recordedDirectory } from './workspace/record.ts';

/**
 * Gives Terraform the locked providers that are available locally: from the machine's cache, or from the
 * platform where the disk does not outlive the runner. Skipped if the machine's owner or the workspace has configured a
 * cache. Terraform installs whatever is missing.
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

/** Says what {@link offerProviders} will say, where that is known before the configuration is there. */
export const expectProviders = ({ settings, environment, files }: Phase): void => {
  if (!settings.inherited.TF_PLUGIN_CACHE_DIR && settings.providerCache)
    environment.TF_PLUGIN_CACHE_DIR = files.pluginCache;
};

const lockFileIn = (directory: string): string => join(directory, '.terraform.lock.hcl');

const offerKept = async (phase: Phase, { binary, directory }: Prepared): Promise<boolean> => {
  const { files, settings, user, afterwards } = phase;
  const { ProviderCache } = await import('./workspace/provider-cache.ts');
  const cache = new ProviderCache(settings.providerCache ?? '', binary.platform);
  await cache.offer(lockFileIn(directory), files.pluginCache, user.owner);
  const recorded = () => lockFileIn(recordedDirectory(phase, { directory }));
  afterwards.addWork('Keeping the providers', () => cache.keep(recorded(), files.providers, files.pluginCache));
  return true;
};

const offerShared = async (phase: Phase, { binary, directory }: Prepared): Promise<boolean> => {
  const { sharedProviders } = await import('./shared-providers.ts');
  return sharedProviders(phase, { lockFile: lockFileIn(directory), platform: binary.platform });
};
