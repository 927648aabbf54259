import * as v from 'valibot';
import { texts } from './text-list.ts';

const hostForm = /^[a-z0-9][a-z0-9.-]*(:\d+)?$/;

/** Registries that serve the same providers to every client without credentials. */
const publicRegistries = ['registry.terraform.io', 'registry.opentofu.org'];

export const sharedProviderEntries = {
  /** Public registries whose providers are cached in the bucket for all runs; `none` disables the cache. */
  sharedProviderHosts: v.optional(
    v.pipe(
      texts,
      v.transform((hosts) => (hosts.join() === 'none' ? [] : hosts)),
      v.check((hosts) => hosts.every((host) => hostForm.test(host)), 'must be host names in lower case, or none'),
    ),
    publicRegistries,
  ),
};

/**
 * The variable of functions, from the environment of the local platform: empty by default, because runs on one machine
 * cache providers on its disk.
 * @throws {Error} that names the variable
 */
export const localSharedProviderVariable = ({ STEPFORM_SHARED_PROVIDER_HOSTS: hosts }: NodeJS.ProcessEnv): string => {
  if (!hosts) return '';
  const { success, output, issues = [] } = v.safeParse(sharedProviderEntries.sharedProviderHosts, hosts);
  if (!success) throw new Error(`STEPFORM_SHARED_PROVIDER_HOSTS ${issues[0]?.message} (it is ${hosts})`);
  return output.join(',');
};
