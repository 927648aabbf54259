import { environment } from '#platform/environment.ts';
import { logWarning } from '#platform/store/log.ts';
import { hostOf } from '#run/protocols/provider-package.ts';
import { fetchPackage } from './fetch.ts';
import { endFetch, type PackageName } from './records.ts';

/** Fetches one package of a provider for later runs. */
export const handler = async ({ address, version, platform }: PackageName): Promise<void> => {
  const name = { address, version, platform };
  if (!environment.sharedProviderHosts.includes(hostOf(address))) throw new Error(`${address} is not shared`);
  try {
    await endFetch(name, await fetchPackage(name));
  } catch (error) {
    // The package may not exist: runs can request any name. Terraform reports the error to its user.
    logWarning('provider not fetched', { ...name, reason: String(error) });
    await endFetch(name);
  }
};
