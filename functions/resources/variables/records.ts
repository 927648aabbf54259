import type { Edited } from '#platform/store/edits.ts';
import { newId } from '#platform/store/id.ts';
import { isModule, isPolicySet, isVariableSet, keys } from '#platform/store/keys.ts';
import { type SecretContext, seal } from '#platform/store/secrets.ts';
import { create, get, remove, update } from '#platform/store/table.ts';
import { queryTogether } from '#platform/store/together.ts';
import { createNamed, releaseName, rename, type UniqueNames } from '#platform/store/unique-names.ts';
import { addIds, removeIds } from './set-records.ts';

/**
 * A variable of a workspace or variable set, or a parameter of a policy set. A sensitive value is encrypted before it
 * is stored, and only runners can read it.
 */
export interface Variable extends Pick<Edited, 'edited'> {
  id: string;
  /** Id of the workspace, variable set, policy set, or tested module. */
  ownerId: string;
  key: string;
  category: 'terraform' | 'env' | 'policy-set';
  hcl: boolean;
  sensitive: boolean;
  description: string | null;
  /** Absent for sensitive variables. */
  value?: string;
  sealed?: Uint8Array;
  /** Replaced with each change. */
  versionId: string;
  createdAt: string;
}

export type VariableValues = Pick<Variable, 'key' | 'category' | 'hcl' | 'sensitive' | 'description'> & {
  value: string;
};

/** Maximum size of a value in bytes (HCP API: variables); fits into an item of 400 KB. */
export const maxValueBytes = 256 * 1024;

/** Encryption context of a value. */
export const contextOf = ({ ownerId, id }: Pick<Variable, 'ownerId' | 'id'>): SecretContext => ({
  [kindOf(ownerId)]: ownerId,
  variable: id,
});

const kindOf = (ownerId: string): string => {
  if (isVariableSet(ownerId)) return 'variable-set';
  if (isPolicySet(ownerId)) return 'policy-set';
  return isModule(ownerId) ? 'module' : 'workspace';
};

const content = async (variable: Variable, value: string): Promise<Pick<Variable, 'value' | 'sealed'>> =>
  variable.sensitive ? { sealed: await seal(value, contextOf(variable)) } : { value };

/** Unordered; 1 read unit per 4 KB. */
export const listVariables = (ownerId: string): Promise<Variable[]> =>
  queryTogether<Variable>(keys.variable(ownerId, '').pk, 'VAR#');

export const getVariable = (ownerId: string, id: string): Promise<Variable | undefined> =>
  get<Variable>(keys.variable(ownerId, id));

/** Key and category of a variable are unique within its owner. */
const names: UniqueNames<Pick<Variable, 'id' | 'ownerId' | 'category' | 'key'>> = {
  key: ({ ownerId, category, key }) => keys.variableKey(ownerId, category, key),
  find: (id, { ownerId }) => getVariable(ownerId, id),
};

/**
 * 2 writes, 3 for a variable set, and 1 KMS request when sensitive. Undefined when the key is taken, or the variable
 * set is deleted or full.
 */
export const createVariable = async (ownerId: string, values: VariableValues): Promise<Variable | undefined> => {
  const { value, ...rest } = values;
  const id = newId('var');
  const variable: Variable = { ...rest, id, ownerId, versionId: newId('vv'), createdAt: new Date().toISOString() };
  Object.assign(variable, await content(variable, value));
  return createNamed(names, variable, async () => {
    if (isVariableSet(ownerId) && !(await addIds(ownerId, 'variableIds', [id]))) {
      await releaseName(names, variable);
      return undefined;
    }
    await create({ ...keys.variable(ownerId, id), ...variable });
    return variable;
  });
};

type Changed = Partial<VariableValues> & Pick<Edited, 'edited'>;

/** Undefined when it changed since it was read. */
const replace = (current: Variable, next: Variable, change: Changed, stored: Pick<Variable, 'value' | 'sealed'>) =>
  update<Variable>(keys.variable(current.ownerId, current.id), {
    set: { ...change, ...stored, versionId: next.versionId },
    remove: stored.sealed ? ['value'] : [],
    condition: 'versionId = :seen',
    values: { ':seen': current.versionId },
  });

/**
 * Undefined when the new key is taken, or the variable is deleted. Setting `sensitive` encrypts the existing value.
 * @param change the change, or a function that computes it from the current variable and runs again after a concurrent
 * change, because a variable that became sensitive allows fewer changes
 */
export const updateVariable = async (
  variable: Variable,
  change: Changed | ((variable: Variable) => Changed),
): Promise<Variable | undefined> => {
  const versionId = newId('vv');
  for (
    let current: Variable | undefined = variable;
    current;
    current = await getVariable(variable.ownerId, variable.id)
  ) {
    // The write succeeded, but its response was lost.
    if (current.versionId === versionId) return current;
    const { value = current.value, ...rest } = typeof change === 'function' ? change(current) : change;
    const next: Variable = { ...current, ...rest, versionId };
    const from = current;
    const updated = await rename(names, from, next, async () =>
      replace(from, next, rest, value === undefined ? {} : await content(next, value)),
    );
    if (updated === 'name taken') return undefined;
    if (updated) return updated;
  }
  return undefined;
};

export const deleteVariable = async (variable: Variable): Promise<void> => {
  await remove(keys.variable(variable.ownerId, variable.id));
  if (isVariableSet(variable.ownerId)) await removeIds(variable.ownerId, 'variableIds', [variable.id]);
  await releaseName(names, variable);
};
