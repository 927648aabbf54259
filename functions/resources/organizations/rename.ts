import { inBatches } from '#platform/store/batches.ts';
import { dueAttributes, dueIn } from '#platform/store/due.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { updateRecord } from '#platform/store/records.ts';
import { get, put, query, update } from '#platform/store/table.ts';
import { claimUnique } from '#platform/store/unique-names.ts';
import { applyRules } from '#resources/users/memberships.ts';
import { callersIn } from './callers.ts';
import { getOrganization, isNameTaken, type Organization } from './records.ts';

/**
 * Renaming an organization (decisions/0242). Its key stays, and every name that it ever had stays reserved for it: no
 * other organization can receive requests, tokens or trust that were meant for it.
 */

/** Maximum number of names of one organization: each stays reserved. */
export const maxNames = 10;

/** Unfinished runs, also hidden ones: they use the name for their whole life. */
const unfinished = ['OPEN#', 'TESTING#', 'QUERYING#', 'ASSESSING#'];

/** At most 4 reads. */
export const hasUnfinishedRuns = async ({ name }: Pick<Organization, 'name'>): Promise<boolean> => {
  const { pk } = keys.organization(name);
  const first = await Promise.all(unfinished.map((prefix) => query<Key>({ pk, prefix, limit: 1 })));
  return first.some((found) => found.length > 0);
};

/**
 * Gives it another name. 4 writes, and 1 per member and team; the sweep continues an interrupted rename.
 * @returns 'name taken' if another organization has or had the name; undefined if this one is deleted
 */
export const renameOrganization = async (
  organization: Organization,
  name: string,
): Promise<Organization | 'name taken' | undefined> => {
  const { name: key } = organization;
  if (!(await claimUnique(keys.organizationName(name), key, isNameTaken))) return 'name taken';
  if (name !== key) await put({ ...keys.renamedOrganization(name), key });
  const renamed = await updateRecord<Organization>(keys.organization(key), {
    set: { ...(name === key ? {} : { shownName: name }), ...dueIn(key, 60) },
    remove: name === key ? ['shownName'] : [],
    add: { names: new Set([name]) },
  });
  if (!renamed) return undefined;
  await carryName(renamed);
  return getOrganization(key);
};

/** Copies the name to all memberships, so that authorization takes one read. 1 write each; can be repeated. */
const carryName = async (organization: Organization): Promise<void> => {
  const { name: key, shownName } = organization;
  await inBatches(await callersIn(organization), (userId) =>
    applyRules({ userId, organization: key }, { organizationName: shownName }),
  );
  await update(keys.organization(key), {
    remove: dueAttributes,
    condition: shownName === undefined ? 'attribute_not_exists(shownName)' : 'shownName = :name',
    ...(shownName === undefined ? {} : { values: { ':name': shownName } }),
  });
};

/** Continues an interrupted rename. False when none is due. */
export const completeRename = async (key: string): Promise<boolean> => {
  const organization = await get<Organization & { dueAt?: string; deletedAt?: string }>(keys.organization(key));
  if (!organization?.dueAt || organization.deletedAt) return false;
  await carryName(organization);
  return true;
};
