import { inBatches } from '#platform/store/batches.ts';
import { dueIn } from '#platform/store/due.ts';
import { asEdit, type Edited, type Editor } from '#platform/store/edits.ts';
import { newId } from '#platform/store/id.ts';
import { type Key, keys, type PolicyScope } from '#platform/store/keys.ts';
import { listNames, recordsAt, updateRecord } from '#platform/store/records.ts';
import { create, get, queryAll, remove, update, updateExisting } from '#platform/store/table.ts';
import { now, nowAfter } from '#platform/store/time.ts';
import { queryTogether } from '#platform/store/together.ts';
import { createNamed, releaseName, rename, type UniqueNames } from '#platform/store/unique-names.ts';
import { getProject } from '#resources/projects/records.ts';
import { distinct } from '#resources/projects/tags.ts';
import type { VcsRepo, Workspace } from '#resources/workspaces/records.ts';
import type { PolicyKind } from '#run/policies.ts';
import { notePolicySets } from './records.ts';
import { selects, type TagSelector } from './select-by-tags.ts';

/**
 * Policy sets. The set's own item decides where it applies. Organizations, projects and workspaces have pointers to
 * sets that may apply there. These are only hints: they are written before the item and stay when the set no longer
 * applies, because a run that skips a policy is worse than one that reads a set needlessly.
 */
export interface PolicySet extends Edited {
  id: string;
  organization: string;
  name: string;
  description: string | null;
  kind: PolicyKind;
  /** Applies to every workspace of the organization. */
  global: boolean;
  /** A set of kind `sentinel` is part of the policy evaluation instead of the policy check; absent: it is not. */
  agentEnabled?: boolean;
  /** Failures of its mandatory policies can be overridden; for kind `opa`. */
  overridable: boolean;
  /** Required version of the engine, e.g. `0.44.0`; null: any. */
  policyToolVersion: string | null;
  /** Folder of its policies in the archive, as entered; empty: the root. */
  policiesPath: string | null;
  /** Changes to these paths in its repository create a version; absent: changes in its folder. */
  policyUpdatePatterns?: string[];
  /** Repository of its versions; absent when they are uploaded. */
  vcsRepo?: VcsRepo | null;
  createdAt: string;
  updatedAt: string;
  workspaceIds?: Set<string>;
  projectIds?: Set<string>;
  workspaceExclusionIds?: Set<string>;
  projectExclusionIds?: Set<string>;
  /** Selects workspaces by their tags instead of by name (tag-selector-input.ts). */
  tagSelectors?: TagSelector[];
  /** Its individually managed policies. */
  policyIds?: Set<string>;
  /** The newest version in any status. */
  newestVersionId?: string;
  newestVersionAt?: string;
  /** The newest version that can be evaluated, and its creation time. */
  currentVersionId?: string;
  currentVersionAt?: string;
  /** Number of policies in that version. */
  currentPolicyCount?: number;
  deletedAt?: string;
}

/** Maximum number of ids in each relationship, which the set's item contains. */
export const maxRelated = {
  workspaceIds: 1000,
  projectIds: 500,
  workspaceExclusionIds: 1000,
  projectExclusionIds: 500,
  policyIds: 200,
} as const;
export type Related = keyof typeof maxRelated;

export type PolicySetSettings = Pick<
  PolicySet,
  | 'name'
  | 'description'
  | 'global'
  | 'agentEnabled'
  | 'overridable'
  | 'policyToolVersion'
  | 'policiesPath'
  | 'policyUpdatePatterns'
  | 'tagSelectors'
  | 'vcsRepo'
>;

/** The version of the engine that the set requires; empty: any. */
export const toolVersionOf = ({ policyToolVersion }: Pick<PolicySet, 'policyToolVersion'>): string =>
  policyToolVersion === 'latest' ? '' : (policyToolVersion ?? '');

export const { read: getPolicySet, readAll: getPolicySets } = recordsAt<PolicySet>(keys.policySet);

/** 1 write; can be repeated. */
const point = (scope: PolicyScope, setId: string) =>
  update(keys.policySetsOf(scope), { add: { ids: new Set([setId]) } });

const unpoint = (scope: PolicyScope, setId: string) =>
  updateExisting(keys.policySetsOf(scope), { delete: { ids: new Set([setId]) } });

const names: UniqueNames<PolicySet> = {
  key: ({ organization, name }) => keys.policySetName(organization, name),
  find: getPolicySet,
};

const isLookedForEverywhere = ({ global, tagSelectors }: PolicySetSettings): boolean =>
  global || Boolean(tagSelectors?.length);

/** Undefined when the organization already has a set with this name. */
export const createPolicySet = async (
  settings: PolicySetSettings & Pick<PolicySet, 'organization' | 'kind'>,
): Promise<PolicySet | undefined> => {
  const at = now();
  const set: PolicySet = { ...settings, id: newId('polset'), createdAt: at, updatedAt: at };
  return createNamed(names, set, async () => {
    if (isLookedForEverywhere(set)) await point({ organization: set.organization }, set.id);
    await create({ ...keys.policySet(set.id), ...set });
    return set;
  });
};

/** Undefined when the name is taken, or the set was deleted or has changed since the editor read it. */
export const updatePolicySet = async (
  set: PolicySet,
  change: Partial<PolicySetSettings>,
  editor: Editor,
): Promise<PolicySet | undefined> => {
  const next = { ...set, ...change };
  const updated = await rename(names, set, next, async () => {
    if (isLookedForEverywhere(next)) await point({ organization: set.organization }, set.id);
    const edit = asEdit({ set: { ...change, updatedAt: nowAfter(set.updatedAt) } }, editor);
    return updateRecord<PolicySet>(keys.policySet(set.id), edit);
  });
  return updated === 'name taken' ? undefined : updated;
};

/** Undefined when the set was deleted or has changed since it was read. 2 writes. */
export const changeTagSelectors = async (
  set: PolicySet,
  tagSelectors: TagSelector[],
): Promise<PolicySet | undefined> => {
  if (tagSelectors.length) await point({ organization: set.organization }, set.id);
  return updateRecord<PolicySet>(keys.policySet(set.id), {
    set: { tagSelectors, updatedAt: nowAfter(set.updatedAt) },
    condition: 'updatedAt = :seen',
    values: { ':seen': set.updatedAt },
  });
};

const scopeOf = (related: Related, id: string): PolicyScope | undefined => {
  if (related === 'policyIds') return undefined;
  return related.startsWith('workspace') ? { workspace: id } : { project: id };
};

/** Undefined when the set was deleted or would exceed the limit. 1 write, and 1 per id. */
export const relate = async (set: PolicySet, to: Related, ids: string[]): Promise<PolicySet | undefined> => {
  if (ids.length === 0) return set;
  await inBatches(ids, (id) => {
    const scope = scopeOf(to, id);
    return scope ? point(scope, set.id) : notePolicySets(id, set.id, true);
  });
  return updateRecord<PolicySet>(keys.policySet(set.id), {
    set: { updatedAt: now() },
    add: { [to]: new Set(ids) },
    condition: `attribute_not_exists(${to}) OR size(${to}) <= :room`,
    values: { ':room': maxRelated[to] - ids.length },
  });
};

const removeIds = (setId: string, from: Related, ids: string[]) =>
  updateExisting<PolicySet>(keys.policySet(setId), { set: { updatedAt: now() }, delete: { [from]: new Set(ids) } });

export const unrelate = async (set: Pick<PolicySet, 'id'>, from: Related, ids: string[]): Promise<void> => {
  if (ids.length === 0) return;
  await removeIds(set.id, from, ids);
  if (from === 'policyIds') await inBatches(ids, (id) => notePolicySets(id, set.id, false));
};

/** Deletes the set with its parameters; existing runs keep their frozen copy. */
export const deletePolicySet = async (set: PolicySet): Promise<void> => {
  const key = keys.policySet(set.id);
  await updateExisting(key, { set: { deletedAt: now(), ...dueIn(set.id, 60) } });
  const related = Object.keys(maxRelated) as Related[];
  for (const to of related) {
    await inBatches([...(set[to] ?? [])], (id) => {
      const scope = scopeOf(to, id);
      return scope ? unpoint(scope, set.id) : notePolicySets(id, set.id, false);
    });
  }
  await unpoint({ organization: set.organization }, set.id);
  await releaseName(names, set);
  const rest = await queryAll<Key & { policySetVersionId?: string }>({ pk: key.pk, prefix: 'V' });
  await inBatches(rest, async ({ pk, sk, policySetVersionId }) => {
    // Runs refer to the bundle of a version, not to the version.
    if (policySetVersionId) await remove(keys.policySetVersion(policySetVersionId));
    await remove({ pk, sk });
  });
  await remove(key);
};

/** Ordered by name. */
export const listPolicySetNames = (organization: string) => listNames(organization, 'POLSET#');

type Home = Pick<Workspace, 'id' | 'organization' | 'projectId'> & Partial<Pick<Workspace, 'tags'>>;

/** The most specific rule wins: the workspace's, then its project's, then the global one. */
const appliesTo = (set: PolicySet, { id, organization, projectId, tags }: Home): boolean => {
  if (set.organization !== organization || set.workspaceExclusionIds?.has(id)) return false;
  if (set.tagSelectors?.length) return selects(set.tagSelectors, tags ?? []);
  if (set.workspaceIds?.has(id)) return true;
  if (set.projectExclusionIds?.has(projectId)) return false;
  return set.global || (set.projectIds?.has(projectId) ?? false);
};

type Pointers = Key & { ids?: Set<string> };

/**
 * The sets that apply to a workspace, ordered by name. 3 queries, which the creation of a run combines with others, and 1
 * for a template; 1 request more when there may be any, and 1 more when a set selects by tags, since a workspace
 * inherits its project's tags.
 * @param template template of the workspace, whose sets also apply
 */
export const policySetsOf = async (workspace: Home, template?: string): Promise<PolicySet[]> => {
  const { organization, projectId } = workspace;
  const places: Home[] = [workspace.id, ...(template ? [template] : [])].map((place) => ({ ...workspace, id: place }));
  const scopes: PolicyScope[] = [
    { organization },
    { project: projectId },
    ...places.map((place) => ({ workspace: place.id })),
  ];
  const pointers = await Promise.all(
    scopes.map(keys.policySetsOf).map(({ pk, sk }) => queryTogether<Pointers>(pk, sk)),
  );
  const ids = new Set(pointers.flat().flatMap((pointer) => [...(pointer.ids ?? [])]));
  const sets = await getPolicySets(ids);
  if (sets.some(({ tagSelectors }) => tagSelectors?.length)) {
    const inherited = (await getProject(projectId))?.tags ?? [];
    const tags = distinct([...inherited, ...(workspace.tags ?? [])]);
    for (const place of places) place.tags = tags;
  }
  return sets.filter((set) => places.some((place) => appliesTo(set, place))).sort((a, b) => (a.name < b.name ? -1 : 1));
};

/** Removes a deleted workspace or project from the sets that name it. */
export const leavePolicySets = async (scope: { project: string } | { workspace: string }): Promise<void> => {
  const pointer = await get<{ ids?: Set<string> }>(keys.policySetsOf(scope));
  if (!pointer) return;
  const [kind, id] =
    'project' in scope ? (['project', scope.project] as const) : (['workspace', scope.workspace] as const);
  await inBatches([...(pointer.ids ?? [])], async (setId) => {
    await removeIds(setId, `${kind}Ids`, [id]);
    await removeIds(setId, `${kind}ExclusionIds`, [id]);
  });
  await remove(keys.policySetsOf(scope));
};
