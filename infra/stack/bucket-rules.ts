/**
 * Lifecycle rules of the bucket, without the CDK: the stack declares them, and `stepform deploy` compares an existing
 * bucket with them.
 */

export interface BucketRule {
  id: string;
  /** Every object if absent. */
  prefix?: string;
  /** After which objects are deleted, which keeps them as an old version. */
  days?: number;
  /** After which old versions are deleted. */
  oldVersionDays?: number;
  /** Removes delete markers without versions. */
  removesMarkers?: true;
  /** After which unfinished multipart uploads are deleted. */
  uploadDays?: number;
}

export interface Retention {
  configurationRetentionDays?: number | undefined;
  runRetentionDays?: number | undefined;
}

/** Prefixes whose objects never expire (functions/platform/store/object-keys.ts), in the order of their value. */
export const lastingPrefixes = ['states', 'policies', 'registry'] as const;

/** For the other prefixes. */
export const bucketRules = ({ configurationRetentionDays, runRetentionDays }: Retention): BucketRule[] => {
  const after = (days: number | undefined, ...prefixes: string[]): BucketRule[] =>
    days === undefined ? [] : prefixes.map((prefix) => ({ id: `old-${prefix}`, prefix: `${prefix}/`, days }));
  return [
    // State versions are separate objects, so an old version of an object exists only after a mistake overwrote it.
    { id: 'old-versions', oldVersionDays: 90, removesMarkers: true },
    { id: 'broken-uploads', uploadDays: 2 },
    // Accepted uploads have been copied; the others are useless.
    { id: 'uploads', prefix: 'uploads/', days: 7, oldVersionDays: 1 },
    // Deleted when no run needs them, and fetched again on demand (functions/version-control/archive-unused.ts).
    { id: 'fetched-commits', prefix: 'configurations/vcs/', oldVersionDays: 1 },
    // Fetched again on demand (functions/runner/shared-providers).
    { id: 'shared-providers', prefix: 'providers/', days: 30, oldVersionDays: 1 },
    ...after(configurationRetentionDays, 'configurations'),
    ...after(runRetentionDays, 'runs', 'inputs', 'outcomes'),
  ];
};
