import { asEdit, type Edited, type Editor } from '#platform/store/edits.ts';
import { newId } from '#platform/store/id.ts';
import { keys } from '#platform/store/keys.ts';
import { listNamed, listNames, recordsAt, updateRecord } from '#platform/store/records.ts';
import { create, remove, update, updateExisting } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { createNamed, findUnique, releaseName, rename, type UniqueNames } from '#platform/store/unique-names.ts';
import type { Organization } from '#resources/organizations/records.ts';
import type { ProviderConfiguration } from './configuration.ts';

/**
 * Provider sets: provider configurations for workspaces created from modules (HCP API: provider sets). An
 * organization has few, so finding a workspace's sets reads them all.
 */
export interface ProviderSet extends Edited {
  id: string;
  organization: string;
  name: string;
  description: string | null;
  /** Applies to every no-code workspace of the organization. */
  global: boolean;
  /** Takes precedence over sets with a narrower scope. */
  priority: boolean;
  /** `registry.terraform.io/hashicorp/aws`, in lower case. */
  providerSource: string;
  /** One provider block, as in the request. */
  configurationHcl: string;
  /** The parsed block. */
  content: ProviderConfiguration;
  workspaceIds?: Set<string>;
  projectIds?: Set<string>;
  createdAt: string;
  updatedAt: string;
}

export type ProviderSetSettings = Pick<
  ProviderSet,
  'name' | 'description' | 'global' | 'priority' | 'providerSource' | 'configurationHcl' | 'content'
>;

/** Maximum sets of an organization, and maximum workspaces and projects of a set, whose item contains their ids. */
export const maxProviderSets = 100;
export const maxTargets = 500;

export type Targets = 'workspaceIds' | 'projectIds';

const records = recordsAt<ProviderSet>(keys.providerSet);
export const getProviderSet = records.read;

export const findProviderSet = async (organization: string, name: string): Promise<ProviderSet | undefined> => {
  const set = await findUnique(keys.providerSetName(organization, name), getProviderSet);
  return set?.name === name ? set : undefined;
};

const namesOf = (organization: string) => listNames(organization, 'PROVSET#');

export const countProviderSets = async (organization: string): Promise<number> => (await namesOf(organization)).length;

/** Ordered by name. 1 query, and 1 read if there are any. */
export const listProviderSets = async (organization: string): Promise<ProviderSet[]> =>
  listNamed(await namesOf(organization), records.readAll, ({ name }) => name);

const names: UniqueNames<ProviderSet> = {
  key: ({ organization, name }) => keys.providerSetName(organization, name),
  find: getProviderSet,
};

/** Undefined when the name is taken. 2 writes, and 1 more for an organization's first set. */
export const createProviderSet = async (
  { name: organization, hasProviderSets }: Pick<Organization, 'name' | 'hasProviderSets'>,
  { workspaceIds, projectIds, ...settings }: ProviderSetSettings & Partial<Record<Targets, string[]>>,
): Promise<ProviderSet | undefined> => {
  const at = now();
  const set: ProviderSet = {
    ...settings,
    ...(workspaceIds?.length ? { workspaceIds: new Set(workspaceIds) } : {}),
    ...(projectIds?.length ? { projectIds: new Set(projectIds) } : {}),
    id: newId('provset'),
    organization,
    createdAt: at,
    updatedAt: at,
  };
  return createNamed(names, set, async () => {
    // Without this flag, runs of the organization do not read provider sets.
    if (!hasProviderSets) await updateRecord(keys.organization(organization), { set: { hasProviderSets: true } });
    await create({ ...keys.providerSet(set.id), ...set });
    return set;
  });
};

/** Undefined when the name is taken, or the set was deleted or changed since the editor read it. */
export const updateProviderSet = async (
  set: ProviderSet,
  change: Partial<ProviderSetSettings> & Partial<Record<Targets, string[]>>,
  editor: Editor,
): Promise<ProviderSet | undefined> => {
  const { workspaceIds, projectIds, ...settings } = change;
  const next = { ...set, ...settings };
  const targets = Object.entries({ workspaceIds, projectIds }).filter(([, ids]) => ids !== undefined);
  const emptied = targets.flatMap(([name, ids]) => (ids?.length ? [] : [name]));
  const filled = targets.flatMap(([name, ids]) => (ids?.length ? [[name, new Set(ids)]] : []));
  const edit = {
    set: { ...settings, ...Object.fromEntries(filled), updatedAt: now() },
    remove: next.global ? ['workspaceIds', 'projectIds'] : emptied,
  };
  const updated = await rename(names, set, next, () =>
    updateExisting<ProviderSet>(keys.providerSet(set.id), asEdit(edit, editor)),
  );
  return updated === 'name taken' ? undefined : updated;
};

/** Undefined when the set was deleted, became global or would exceed the limit. */
export const addTargets = (id: string, to: Targets, ids: string[]): Promise<ProviderSet | undefined> =>
  update<ProviderSet>(keys.providerSet(id), {
    set: { updatedAt: now() },
    add: { [to]: new Set(ids) },
    condition: `global = :false AND (attribute_not_exists(${to}) OR size(${to}) <= :room)`,
    values: { ':false': false, ':room': maxTargets - ids.length },
  });

export const removeTargets = (id: string, from: Targets, ids: string[]): Promise<ProviderSet | undefined> =>
  updateExisting<ProviderSet>(keys.providerSet(id), { set: { updatedAt: now() }, delete: { [from]: new Set(ids) } });

/** Removes a deleted workspace or project from the sets that name it. As {@link listProviderSets}, and 1 write per such set. */
export const leaveProviderSets = async (organization: string, from: Targets, id: string): Promise<void> => {
  for (const set of await listProviderSets(organization)) {
    if (set[from]?.has(id)) await removeTargets(set.id, from, [id]);
  }
};

/** Existing runs keep their frozen copy. Can be repeated. */
export const deleteProviderSet = async (set: ProviderSet): Promise<void> => {
  await remove(keys.providerSet(set.id));
  await releaseName(names, set);
};
