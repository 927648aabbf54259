import * as v from 'valibot';
import { nameOf } from '#api/naming.ts';

/** Names of modules and providers (HCP API: registry modules, registry providers). */

const message = 'must have 1 to 64 letters, digits, "-" and "_", with a letter or digit at both ends';

export const moduleName = v.pipe(v.string(), v.regex(/^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9])?$/, message));

/**
 * Name of a provider: may contain a hyphen or an underscore, as in HCP Terraform, although Terraform installs modules
 * only of providers without either, and providers only without an underscore.
 */
export const providerName = v.pipe(
  v.string(),
  v.regex(
    /^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/,
    'must have 1 to 64 lower-case letters, digits, "-" and "_", with a letter or digit at both ends',
  ),
);

export const registryName = v.picklist(['private', 'public']);
export type RegistryName = v.InferOutput<typeof registryName>;

/** As clients see it: that of a private entry is its organization. */
export const shownNamespace = ({ registry, namespace }: { registry: RegistryName; namespace: string }): string =>
  registry === 'private' ? nameOf(namespace) : namespace;

/** Name of the publisher in another registry. */
export const namespaceName = v.pipe(v.string(), v.regex(/^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9])?$/, message));
