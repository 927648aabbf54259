import compareBuild from 'semver/functions/compare-build.js';
import parse from 'semver/functions/parse.js';
import prerelease from 'semver/functions/prerelease.js';
import * as v from 'valibot';

/** Names of modules, providers and versions (HCP API: registry modules, registry providers). */

const message = 'has 1 to 64 letters, digits, "-" and "_", with a letter or digit at both ends';

export const moduleName = v.pipe(v.string(), v.regex(/^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9])?$/, message));

export const providerName = v.pipe(
  v.string(),
  v.regex(/^[a-z0-9]{1,64}$/, 'has 1 to 64 lower-case letters and digits'),
);

/** Of providers that are published, which may have a hyphen or, although Terraform cannot install those, an underscore. */
export const publishedProviderName = v.pipe(
  v.string(),
  v.regex(/^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/, 'has 1 to 64 lower-case letters, digits, "-" and "_"'),
);

export const registryName = v.picklist(['private', 'public']);
export type RegistryName = v.InferOutput<typeof registryName>;

/** In another registry: the publisher's name. */
export const namespaceName = v.pipe(v.string(), v.regex(/^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9])?$/, message));

const isVersion = (text: string): boolean => /^\d/.test(text) && parse(text) !== null;

export const version = v.pipe(
  v.string(),
  v.maxLength(100, 'has at most 100 characters'),
  v.check(isVersion, 'must be a semantic version without "v", e.g. 1.2.0 or 2.0.0-beta1'),
);

/** The newest first. */
export const byVersion = (a: { version: string }, b: { version: string }): number => compareBuild(b.version, a.version);

/** The newest that is no pre-release; where there are only those, the newest of them. */
export const newestStable = <V extends { version: string }>(versions: V[]): V | undefined => {
  const sorted = [...versions].sort(byVersion);
  return sorted.find((one) => prerelease(one.version) === null) ?? sorted[0];
};
