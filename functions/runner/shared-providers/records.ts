import { keys } from '#platform/store/keys.ts';
import { get, update } from '#platform/store/table.ts';
import type { ProviderName } from '#run/protocols/runner.ts';

/**
 * Packages of providers that the platform keeps for all runs (decisions/0082): the checksum of a registry's content
 * under each name. Only a run's own lock file decides whether that content may run, never this record.
 */
export interface SharedPackage {
  status: 'fetching' | 'stored' | 'failed';
  /** Hex, of the zip; once it is stored. */
  sha256?: string;
  /** Seconds since 1970: until then the record does not change. */
  expiresAt: number;
}

export interface PackageName extends ProviderName {
  /** `linux_arm64` */
  platform: string;
}

const day = 24 * 3600;
/**
 * Shorter than the bucket keeps these objects (lifecycle rule in infra/stack/storage.ts), so that a runner has time to
 * read one.
 */
const storedSeconds = 27 * day;
/** Longer than the time limit of the function that fetches. */
const fetchingSeconds = 900;
const failedSeconds = 6 * 3600;

const seconds = (): number => Math.floor(Date.now() / 1000);

const keyOf = ({ address, version, platform }: PackageName) => keys.sharedProvider(address, version, platform);

/** 1 read. @returns undefined if there is no record, or it has expired */
export const getPackage = async (name: PackageName): Promise<SharedPackage | undefined> => {
  const record = await get<SharedPackage>(keyOf(name), false);
  return record && record.expiresAt > seconds() ? record : undefined;
};

/** @returns true for the one caller that has to fetch the package */
export const beginFetch = async (name: PackageName): Promise<boolean> =>
  (await update(keyOf(name), {
    set: { status: 'fetching', expiresAt: seconds() + fetchingSeconds },
    remove: ['sha256'],
    condition: 'attribute_not_exists(pk) OR expiresAt <= :now',
    values: { ':now': seconds() },
  })) !== undefined;

/** @param sha256 missing: it could not be fetched, and is not tried again for some hours */
export const endFetch = async (name: PackageName, sha256?: string): Promise<void> => {
  const stored = sha256 !== undefined;
  await update(keyOf(name), {
    set: {
      status: stored ? 'stored' : 'failed',
      sha256,
      expiresAt: seconds() + (stored ? storedSeconds : failedSeconds),
    },
  });
};

/**
 * Maximum number of packages that the platform fetches per day, for one organization and in total: runs can request
 * any existing package.
 */
const maxFetches = { organization: 100, all: 1000 };

const counts = async (of: string, max: number): Promise<boolean> =>
  (await update(keys.sharedProviderFetches(of, new Date().toISOString().slice(0, 10)), {
    set: { expiresAt: seconds() + 2 * day },
    add: { fetches: 1 },
    condition: 'attribute_not_exists(fetches) OR fetches < :most',
    values: { ':most': max },
  })) !== undefined;

/** Counts one more. @returns false if the daily limit is reached */
export const mayFetch = async (organization: string): Promise<boolean> =>
  (await counts(`organization/${organization}`, maxFetches.organization)) && counts('all', maxFetches.all);
