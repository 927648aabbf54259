import { environment } from '../environment.ts';
import { addressForm, hostOf, platformForm, versionForm } from '../protocols/provider-package.ts';
import type { ProviderName, ProvidersRequest, SharedProvider } from '../protocols/runner.ts';
import { invokeLater } from '../store/aws.ts';
import { presignGet } from '../store/bucket.ts';
import { objects } from '../store/keys.ts';
import { logError, logWarning } from '../store/log.ts';
import { beginFetch, getPackage, mayFetch, type PackageName } from './records.ts';

/** A provider that is not there is installed by Terraform itself: nobody has to hear of it. */
const isShared = ({ address, version }: ProviderName): boolean =>
  addressForm.test(address) &&
  address === address.toLowerCase() &&
  versionForm.test(version) &&
  environment.sharedProviderHosts.includes(hostOf(address));

/** Has it fetched for the next run; this one does not wait. */
const fetchLater = async (name: PackageName, organization: string): Promise<void> => {
  if (!(await mayFetch(organization))) {
    return logWarning('enough providers were fetched today', { organization, address: name.address });
  }
  if (await beginFetch(name)) await invokeLater(environment.fetchProviderFunction, name);
};

/**
 * Those of the packages that the platform keeps, with URLs to read them from; it fetches the others. 1 read for each.
 * @param seconds that the URLs are good for
 */
export const shareProviders = async (
  { platform, providers }: ProvidersRequest,
  organization: string,
  seconds: number,
): Promise<SharedProvider[]> => {
  if (!platformForm.test(platform)) return [];
  const answers = await Promise.all(
    providers.filter(isShared).map(async ({ address, version }) => {
      const name = { address, version, platform };
      const found = await getPackage(name);
      if (!found) await fetchLater(name, organization).catch((error) => logError('provider not fetched', error));
      if (!found?.sha256) return [];
      return [
        {
          address,
          version,
          sha256: found.sha256,
          url: await presignGet(objects.sharedProvider(found.sha256), seconds),
        },
      ];
    }),
  );
  return answers.flat();
};
