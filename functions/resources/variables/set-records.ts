import { inBatches } from '#platform/store/batches.ts';
import { dueIn } from '#platform/store/due.ts';
import { asEdit, type Edited, type Editor } from '#platform/store/edits.ts';
import { newId } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { countNames } from '#platform/store/name-index.ts';
import { recordsAt, updateRecord } from '#platform/store/records.ts';
import { create, put, queryAll, remove, updateExisting } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { queryTogether } from '#platform/store/together.ts';
import { createNamed, releaseName, rename, type UniqueNames } from '#platform/store/unique-names.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import { byPrecedence, rankOf, type VariableScope } from '#run/variable-precedence.ts';

/**
 * Variable sets. The set's own item decides where it applies; pointers beside a workspace, a project and the
 * organization only help to find it. A pointer is written before the item and removed after it, so a leftover pointer
 * has no effect.
 */
export interface VariableSet extends Edited {
  id: string;
  organization: string;
  /** The owning project; absent when the organization owns the set. */
  projectId?: string;
  name: string;
  description: string | null;
  /** Applies to every workspace of the organization. */
  global: boolean;
  priority: boolean;
  createdAt: string;
  updatedAt: string;
  workspaceIds?: Set<string>;
  projectIds?: Set<string>;
  variableIds?: Set<string>;
  deletedAt?: string;
}

/** Maximum numbers of targets and variables, whose ids the set's item contains. */
export const maxOf = { workspaceIds: 1000, projectIds: 500, variableIds: 500 } as const;
type Ids = keyof typeof maxOf;

export type VariableSetSettings = Pick<VariableSet, 'name' | 'description' | 'global' | 'priority'>;

export const { read: getVariableSet, readAll: getVariableSets } = recordsAt<VariableSet>(keys.variableSet);

const names: UniqueNames<VariableSet> = {
  key: ({ organization, projectId, name }) => keys.variableSetName(organization, projectId, name),
  find: getVariableSet,
  others: ({ name, projectId }) => ({ name, projectId }),
};

/** Undefined when its owner already has a set with this name. */
export const createVariableSet = async (
  settings: VariableSetSettings & Pick<VariableSet, 'organization' | 'projectId'>,
): Promise<VariableSet | undefined> => {
  const at = now();
  const set: VariableSet = { ...settings, id: newId('varset'), createdAt: at, updatedAt: at };
  return createNamed(names, set, async () => {
    await countNames(set.organization, 'variableSet', 1);
    const pointers = [
      ...(set.global ? [keys.globalVariableSet(set.organization, set.id)] : []),
      ...(set.projectId ? [keys.ownVariableSet(set.projectId, set.id)] : []),
    ];
    await Promise.all(pointers.map((pointer) => put({ ...pointer, variableSetId: set.id })));
    await create({ ...keys.variableSet(set.id), ...set });
    return set;
  });
};

/**
 * Undefined when the name is taken, or the set was deleted or changed since the editor read it. A set that becomes
 * global loses its individual targets.
 */
export const updateVariableSet = async (
  set: VariableSet,
  change: Partial<VariableSetSettings>,
  editor: Editor,
): Promise<VariableSet | undefined> => {
  const next = { ...set, ...change };
  const updated = await rename(names, set, next, async () => {
    const pointer = keys.globalVariableSet(set.organization, set.id);
    if (next.global && !set.global) await put({ ...pointer, variableSetId: set.id });
    const edit = { set: { ...change, updatedAt: now() }, remove: next.global ? ['workspaceIds', 'projectIds'] : [] };
    const written = await updateRecord<VariableSet>(keys.variableSet(set.id), asEdit(edit, editor));
    if (written && !next.global && set.global) await remove(pointer);
    if (written && next.global) await removePointers(set);
    return written;
  });
  if (updated === 'name taken') return undefined;
  if (next.name !== set.name) await countNames(set.organization, 'variableSet', 0);
  return updated;
};

const pointersOf = (set: VariableSet): Key[] => [
  ...[...(set.workspaceIds ?? [])].map((id) => keys.workspaceVariableSet(id, set.id)),
  ...[...(set.projectIds ?? [])].map((id) => keys.projectVariableSet(id, set.id)),
];

const removePointers = (set: VariableSet): Promise<void> => inBatches(pointersOf(set), (key) => remove(key));

/** Deletes the set with its variables; existing runs keep their copies. */
export const deleteVariableSet = async (set: VariableSet): Promise<void> => {
  const key = keys.variableSet(set.id);
  await updateExisting(key, { set: { deletedAt: now(), ...dueIn(set.id, 60) } });
  await removePointers(set);
  await remove(keys.globalVariableSet(set.organization, set.id));
  if (set.projectId) await remove(keys.ownVariableSet(set.projectId, set.id));
  await releaseName(names, set);
  await countNames(set.organization, 'variableSet', -1);
  const rest = await queryAll<Key>({ pk: key.pk, prefix: 'VAR' });
  await inBatches(
    rest.filter(({ sk }) => sk !== key.sk),
    ({ pk, sk }) => remove({ pk, sk }),
  );
  await remove(key);
};

const pointerKeys = {
  workspaceIds: keys.workspaceVariableSet,
  projectIds: keys.projectVariableSet,
} as const;

/** Applies the set to workspaces or projects; undefined when the limit would be exceeded. 1 write, and 1 per target. */
export const applyVariableSet = async (
  set: VariableSet,
  to: 'workspaceIds' | 'projectIds',
  ids: string[],
): Promise<VariableSet | undefined> => {
  if (ids.length === 0) return set;
  await inBatches(ids, (id) => put({ ...pointerKeys[to](id, set.id), variableSetId: set.id }));
  return addIds(set.id, to, ids);
};

/** Undefined when the set is deleted or the limit would be exceeded. */
export const addIds = (setId: string, to: Ids, ids: string[]): Promise<VariableSet | undefined> =>
  updateRecord<VariableSet>(keys.variableSet(setId), {
    set: { updatedAt: now() },
    add: { [to]: new Set(ids) },
    condition: `attribute_not_exists(${to}) OR size(${to}) <= :room`,
    values: { ':room': maxOf[to] - ids.length },
  });

export const removeIds = (setId: string, from: Ids, ids: string[]): Promise<VariableSet | undefined> =>
  updateExisting<VariableSet>(keys.variableSet(setId), { set: { updatedAt: now() }, delete: { [from]: new Set(ids) } });

export const withdrawVariableSet = async (
  set: VariableSet,
  from: 'workspaceIds' | 'projectIds',
  ids: string[],
): Promise<void> => {
  if (ids.length === 0) return;
  await removeIds(set.id, from, ids);
  await inBatches(ids, (id) => remove(pointerKeys[from](id, set.id)));
};

/** Removes a deleted workspace or project from the sets that apply to it. */
export const leaveVariableSets = async (from: 'workspaceIds' | 'projectIds', id: string): Promise<void> => {
  const { pk } = pointerKeys[from](id, '');
  const pointers = await queryAll<Pointer>({ pk, prefix: 'VARSET#' });
  await inBatches(pointers, async ({ variableSetId, sk }) => {
    await removeIds(variableSetId, from, [id]);
    await remove({ pk, sk });
  });
};

interface Pointer extends Key {
  variableSetId: string;
}

/** Ids of the sets named by pointers beside the record. */
const named = async (pk: string, prefix: string): Promise<string[]> =>
  (await queryTogether<Pointer>(pk, prefix)).map(({ variableSetId }) => variableSetId);

/** Sets that apply to all workspaces of the project. */
export const listProjectVariableSets = async (organization: string, projectId: string): Promise<VariableSet[]> => {
  const [applied, global] = await Promise.all([
    named(keys.project(projectId).pk, 'VARSET#'),
    named(keys.organization(organization).pk, 'GLOBALVARSET#'),
  ]);
  const sets = await getVariableSets([...applied, ...global]);
  return sets.filter((set) => set.global || set.projectIds?.has(projectId));
};

export const listOwnVariableSets = async (projectId: string): Promise<VariableSet[]> => {
  const sets = await getVariableSets(await named(keys.project(projectId).pk, 'OWNVARSET#'));
  return sets.filter((set) => set.projectId === projectId);
};

export interface EffectiveSet {
  set: VariableSet;
  rank: number;
  name: string;
}

type Home = Pick<Workspace, 'id' | 'organization' | 'projectId'>;

const scopesOf = (set: VariableSet, workspace: Home): VariableScope[] => {
  if (set.organization !== workspace.organization) return [];
  // A set owned by a project applies only within it, even if the workspace moved elsewhere.
  if (set.projectId !== undefined && set.projectId !== workspace.projectId) return [];
  if (set.global) return ['global'];
  return [
    ...(set.workspaceIds?.has(workspace.id) ? (['workspace'] as const) : []),
    ...(set.projectIds?.has(workspace.projectId) ? (['project'] as const) : []),
  ];
};

/**
 * The sets that apply to a workspace, in rising precedence. 3 queries, which can be combined with others, and the
 * sets.
 */
export const effectiveVariableSets = async (workspace: Home): Promise<EffectiveSet[]> => {
  const ids = await Promise.all([
    named(keys.workspace(workspace.id).pk, 'VARSET#'),
    named(keys.project(workspace.projectId).pk, 'VARSET#'),
    named(keys.organization(workspace.organization).pk, 'GLOBALVARSET#'),
  ]);
  const sets = await getVariableSets(ids.flat());
  return sets
    .flatMap((set): EffectiveSet[] => {
      const scopes = scopesOf(set, workspace);
      if (scopes.length === 0) return [];
      const { priority, name, projectId } = set;
      return [{ set, name, rank: rankOf({ priority, projectOwned: projectId !== undefined, scopes }) }];
    })
    .sort(byPrecedence);
};

/** An entry of the index by name. */
export interface VariableSetName extends Key {
  holder: string;
  name: string;
  projectId?: string;
}
