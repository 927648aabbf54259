import * as v from 'valibot';
import type { GithubAppSettings } from '#platform/environment.ts';
import { dueIn } from '#platform/store/due.ts';
import { derivedId } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { recordsAt, updateRecord } from '#platform/store/records.ts';
import { get, put, queryAll, remove, updateExisting } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';

/**
 * Installations of the GitHub App (HCP API: GitHub App installations). An installation has a record once an
 * organization has linked it.
 */

/** GitHub's data about an installation. */
export interface InstallationFacts {
  installationId: number;
  /** The account that owns its repositories. */
  account: { id: string; login: string; type: string; iconUrl: string | null };
  /** URL of its settings. */
  url: string | null;
  suspendedAt?: string;
}

export interface Installation extends InstallationFacts {
  id: string;
  /** The organization that linked it. */
  organization: string;
  linkedAt: string;
  linkedBy: string;
  /** When it was uninstalled at GitHub; a new installation for the same account gets another number. */
  uninstalledAt?: string;
  /** End of the pause that GitHub's rate limit requires. */
  pausedUntil?: string;
  /** Set while it is being unlinked; readers treat it as deleted. */
  deletedAt?: string;
}

const prefix = 'ghain-';

/** Used instead of an OAuth client's id for the app. */
export const appLinks = 'github-app';

/** Whether a follower's connection id names an installation; otherwise it names an OAuth token. */
export const isInstallation = (id: string): boolean => id.startsWith(prefix);

export const installationIdOf = ({ id, apiUrl }: Pick<GithubAppSettings, 'id' | 'apiUrl'>, number: number): string =>
  derivedId('ghain', `${apiUrl} ${id} ${number}`);

const whole = v.pipe(v.number(), v.integer(), v.minValue(1));

/** Schema for responses and webhooks. */
export const installationSchema = v.object({
  id: whole,
  app_id: v.optional(whole),
  html_url: v.nullish(v.string(), null),
  suspended_at: v.nullish(v.string(), null),
  account: v.object({
    id: whole,
    login: v.string(),
    type: v.nullish(v.string(), 'Organization'),
    avatar_url: v.nullish(v.string(), null),
  }),
});

export const factsOf = (given: v.InferOutput<typeof installationSchema>): InstallationFacts => ({
  installationId: given.id,
  account: {
    id: String(given.account.id),
    login: given.account.login,
    type: given.account.type ?? 'Organization',
    iconUrl: given.account.avatar_url,
  },
  url: given.html_url,
  ...(given.suspended_at ? { suspendedAt: given.suspended_at } : {}),
});

/** Also returns an installation that is being unlinked. */
export const getEndedInstallation = (id: string): Promise<Installation | undefined> =>
  get<Installation>(keys.installation(id));

const records = recordsAt<Installation>(keys.installation);
export const getInstallation = records.read;

/** Ordered by account name. */
export const listInstallations = async (organization: string): Promise<Installation[]> => {
  const rows = await queryAll<Key>({ pk: keys.organization(organization).pk, prefix: 'GHAIN#' });
  const found = await records.readAll(rows.map(({ sk }) => sk.slice('GHAIN#'.length)));
  return found
    .filter((one) => one.organization === organization)
    .sort((a, b) => (a.account.login < b.account.login ? -1 : 1));
};

/**
 * Links it to one organization. False when it is linked to another organization. 2 writes; after an interruption
 * between them, repeating the request completes the link.
 */
export const linkInstallation = async (
  facts: InstallationFacts & { id: string },
  organization: string,
  linkedBy: string,
): Promise<boolean> => {
  const key = keys.installation(facts.id);
  const installation: Installation = { ...facts, organization, linkedAt: now(), linkedBy };
  await put({ ...keys.organizationInstallation(organization, facts.id), installationId: facts.installationId });
  const linked = await put(
    { ...key, ...installation },
    {
      condition: 'attribute_not_exists(pk) OR (organization = :mine AND attribute_not_exists(deletedAt))',
      values: { ':mine': organization },
    },
  );
  if (!linked) await remove(keys.organizationInstallation(organization, facts.id));
  return linked;
};

type Change = Partial<Pick<Installation, 'account' | 'url' | 'suspendedAt' | 'uninstalledAt' | 'pausedUntil'>>;

/** Removes attributes set to undefined. Undefined when no organization has linked it. */
export const noteInstallation = (id: string, change: Change): Promise<Installation | undefined> =>
  updateExisting<Installation>(keys.installation(id), {
    set: Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)),
    remove: Object.keys(change).filter((name) => change[name as keyof Change] === undefined),
  });

/** One write makes it unusable; the sweep disconnects its followers. */
export const unlinkInstallation = async ({ id }: Pick<Installation, 'id'>): Promise<void> => {
  await updateRecord(keys.installation(id), { set: { deletedAt: now(), ...dueIn(id, 0) } });
};

/** Removes its record. */
export const removeInstallation = async ({ id, organization }: Installation): Promise<void> => {
  for (const { pk, sk } of await queryAll<Key>({ pk: keys.installation(id).pk, prefix: 'TOKEN#' })) {
    await remove({ pk, sk });
  }
  await remove(keys.organizationInstallation(organization, id));
  await remove(keys.installation(id));
};
