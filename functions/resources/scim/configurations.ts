import { derivedId } from '#platform/store/id.ts';
import { keys } from '#platform/store/keys.ts';
import { updateRecord } from '#platform/store/records.ts';
import { type Change, create, get, remove, updateExisting } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import type { Organization } from '#resources/organizations/records.ts';

/** Whether a directory may provision users and groups of an organization (HCP API: SCIM configurations). */
export interface ScimConfiguration {
  /** `scimconf-…`, a part of the URLs that the directory calls. */
  id: string;
  organization: string;
  enabled: boolean;
  createdAt: string;
  updatedAt: string;
}

/** Stays the same for the lifetime of the organization. */
export const configurationId = ({ externalId }: Pick<Organization, 'externalId'>): string =>
  derivedId('scimconf', externalId);

/** 1 read. */
export const getConfiguration = (id: string): Promise<ScimConfiguration | undefined> =>
  get<ScimConfiguration>(keys.scimConfiguration(id));

/** Sign-ins follow no groups of the issuer while the organization has a configuration (sign-in/groups.ts). */
const note = ({ name }: Pick<Organization, 'name'>, change: Change): Promise<unknown> =>
  updateRecord(keys.organization(name), change);

/** Undefined when the organization has one. */
export const createConfiguration = async (home: Organization): Promise<ScimConfiguration | undefined> => {
  const at = now();
  const configuration: ScimConfiguration = {
    id: configurationId(home),
    organization: home.name,
    enabled: true,
    createdAt: at,
    updatedAt: at,
  };
  await note(home, { set: { hasDirectory: true } });
  return (await create({ ...keys.scimConfiguration(configuration.id), ...configuration })) ? configuration : undefined;
};

/** Takes effect at once. Undefined when it is deleted. */
export const enableConfiguration = (id: string, enabled: boolean): Promise<ScimConfiguration | undefined> =>
  updateExisting<ScimConfiguration>(keys.scimConfiguration(id), { set: { enabled, updatedAt: now() } });

/** Its users and groups are removed before it (removal.ts). Can be repeated. */
export const deleteConfiguration = async (home: Pick<Organization, 'name' | 'externalId'>): Promise<void> => {
  await remove(keys.scimConfiguration(configurationId(home)));
  await note(home, { remove: ['hasDirectory'] });
};
