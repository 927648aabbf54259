import { environment } from '#platform/environment.ts';
import { invokeLater } from '#platform/store/aws.ts';
import { presignGet } from '#platform/store/bucket.ts';
import { objects } from '#platform/store/keys.ts';
import { logError, logWarning } from '#platform/store/log.ts';
import { addressForm, hostOf, platformForm, versionForm } from '#run/protocols/provider-package.ts';
import type { ProviderName, ProvidersRequest, SharedProvider } from '#run/protocols/runner.ts';
import { beginFetch, getPackage, mayFetch, type PackageName } from './records.ts';

/** Other providers are not shared: Terraform installs them itself. */
const isShared = ({ address, version }: ProviderName): boolean =>
  addressForm.test(address) &&
  address === address.toLowerCase() &&
  versionForm.test(version) &&
  environment.sharedProviderHosts.includes(hostOf(address));

/** Has the package fetched for the next run; this one does not wait. @returns false if the daily limit is reached */
const fetchLater = async (name: PackageName, organization: string): Promise<boolean> => {
  if (!(await mayFetch(organization))) return false;
  if (await beginFetch(name)) await invokeLater(environment.fetchProviderFunction, name);
  return true;
};

/**
 * URLs of the packages that the platform has; fetches missing ones. 1 read for each.
 * @param seconds validity of the URLs
 */
export const shareProviders = async (
  { platform, providers }: ProvidersRequest,
  organization: string,
  seconds: number,
): Promise<SharedProvider[]> => {
  if (!platformForm.test(platform)) return [];
  const names = providers.filter(isShared).map(({ address, version }) => ({ address, version, platform }));
  const packages = await Promise.all(names.map(getPackage));
  const missing = names.filter((_, i) => !packages[i]);
  await fetchAll(missing, organization).catch((error) => logError('provider not fetched', error));
  const answers = names.map(async ({ address, version }, i) => {
    const sha256 = packages[i]?.sha256;
    return sha256 ? [{ address, version, sha256, url: await presignGet(objects.sharedProvider(sha256), seconds) }] : [];
  });
  return (await Promise.all(answers)).flat();
};

const fetchAll = async (names: PackageName[], organization: string): Promise<void> => {
  for (const name of names) {
    if (await fetchLater(name, organization)) continue;
    return logWarning('limit of providers fetched in a day reached', { organization });
  }
};
