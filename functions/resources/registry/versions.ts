import compareBuild from 'semver/functions/compare-build.js';
import parse from 'semver/functions/parse.js';
import prerelease from 'semver/functions/prerelease.js';
import * as v from 'valibot';

/** Version numbers of modules and providers. */

const isVersion = (text: string): boolean => /^\d/.test(text) && parse(text) !== null;

export const version = v.pipe(
  v.string(),
  v.maxLength(100, 'may have at most 100 characters'),
  v.check(isVersion, 'must be a semantic version without "v", e.g. 1.2.0 or 2.0.0-beta1'),
);

/** Newest first. */
export const byVersion = (a: { version: string }, b: { version: string }): number => compareBuild(b.version, a.version);

/** Newest version that is not a pre-release; if all are pre-releases, the newest of them. */
export const newestStable = <V extends { version: string }>(versions: V[]): V | undefined => {
  const sorted = [...versions].sort(byVersion);
  return sorted.find(({ version }) => prerelease(version) === null) ?? sorted[0];
};
