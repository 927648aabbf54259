/**
 * A plan as a list of differences, from what the API gives for drawing it: `json-output-redacted`, in which nothing
 * sensitive is left (Terraform's JSON output format 1.x).
 */

export interface Change {
  actions: string[];
  before?: unknown;
  after?: unknown;
  after_unknown?: unknown;
  before_sensitive?: unknown;
  after_sensitive?: unknown;
  replace_paths?: (string | number)[][];
  importing?: { id?: string } | null;
}

interface ResourceChange {
  address: string;
  previous_address?: string;
  mode?: string;
  deposed?: string;
  action_reason?: string;
  change: Change;
}

export interface RedactedPlan {
  resource_changes?: ResourceChange[] | null;
  resource_drift?: ResourceChange[] | null;
  output_changes?: Record<string, Change> | null;
}

export type Kind = 'create' | 'update' | 'replace' | 'destroy' | 'forget' | 'import' | 'move' | 'read' | 'same';

export interface Difference {
  address: string;
  kind: Kind;
  /** What else is to be known: where it was moved from, why it is replaced. */
  notes: string[];
  change: Change;
}

const reasons: Record<string, string> = {
  replace_because_tainted: 'it is tainted: an earlier apply did not complete it',
  replace_because_cannot_update: 'it cannot be updated in place',
  replace_by_request: 'its replacement was asked for',
  replace_by_triggers: 'something it depends on is replaced',
  delete_because_no_resource_config: 'it is no longer in the configuration',
  delete_because_no_module: 'its module is no longer in the configuration',
  delete_because_no_move_target: 'it was moved to something that is not in the configuration',
  delete_because_wrong_repetition: 'it is now used with or without count or for_each',
  delete_because_count_index: 'its index is beyond the count',
  delete_because_each_key: 'its key is no longer in for_each',
  read_because_config_unknown: 'it depends on values known after apply',
  read_because_dependency_pending: 'it depends on a resource that changes',
};

const kindOf = ({ change: { actions, importing }, previous_address, address }: ResourceChange): Kind => {
  if (actions.includes('forget')) return 'forget';
  if (actions.length === 2) return 'replace';
  switch (actions[0]) {
    case 'create':
    case 'update':
    case 'read':
      return actions[0];
    case 'delete':
      return 'destroy';
  }
  if (importing) return 'import';
  return previous_address && previous_address !== address ? 'move' : 'same';
};

const differenceOf = (resource: ResourceChange): Difference => {
  const { address, previous_address, deposed, action_reason = '', change } = resource;
  const notes = [
    previous_address && previous_address !== address && `moved from ${previous_address}`,
    change.importing && `imported${change.importing.id ? ` from ${change.importing.id}` : ''}`,
    deposed && `left over from an earlier replacement (deposed ${deposed})`,
    reasons[action_reason],
    change.actions[0] === 'create' && change.actions.length === 2 && 'created before the old one is destroyed',
  ].filter((note) => typeof note === 'string');
  return { address, kind: kindOf(resource), notes, change };
};

export interface PlanDifferences {
  resources: Difference[];
  outputs: Difference[];
  /** What was changed by others since the last run. */
  drift: Difference[];
}

const byAddress = (a: Difference, b: Difference): number =>
  a.address < b.address ? -1 : a.address > b.address ? 1 : 0;

export const differencesOf = (plan: RedactedPlan): PlanDifferences => ({
  resources: (plan.resource_changes ?? []).map(differenceOf).sort(byAddress),
  drift: (plan.resource_drift ?? []).map(differenceOf).sort(byAddress),
  outputs: Object.entries(plan.output_changes ?? {})
    .map(([address, change]): Difference => ({ address, kind: kindOf({ address, change }), notes: [], change }))
    .sort(byAddress),
});

/** One side of a row: text to show as it is, or what stands for a value. */
export type Side = { text: string } | { hidden: 'sensitive' | 'known after apply' } | undefined;

export interface Row {
  path: string;
  before: Side;
  after: Side;
  /** This difference makes Terraform replace the resource. */
  forces: boolean;
}

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isMissing = (value: unknown): boolean => value === null || value === undefined;
const isBranch = (value: unknown): value is Json | unknown[] =>
  (Array.isArray(value) && value.length > 0) || (isObject(value) && Object.keys(value).length > 0);

const same = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);

const part = (value: unknown, key: string | number): unknown => {
  if (value === true) return true;
  if (Array.isArray(value)) return value[key as number];
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
};

type Path = (string | number)[];

const shown = (path: Path): string =>
  path
    .map((key, i) => {
      if (typeof key === 'number') return `[${key}]`;
      if (/^[A-Za-z_][\w-]*$/.test(key)) return i ? `.${key}` : key;
      return i ? `[${JSON.stringify(key)}]` : key;
    })
    .join('');

/** Text of several lines and JSON in a string read better laid out. */
const textOf = (value: unknown): string => {
  if (typeof value !== 'string') return JSON.stringify(value, null, 2) ?? 'null';
  if (/^\s*[[{]/.test(value)) {
    try {
      return JSON.stringify(JSON.parse(value), null, 2);
    } catch {
      // It only looks like it.
    }
  }
  return value.includes('\n') ? value : JSON.stringify(value);
};

const sideOf = (value: unknown, sensitive: boolean, unknown: boolean): Side => {
  if (sensitive && !isMissing(value)) return { hidden: 'sensitive' };
  if (unknown) return { hidden: 'known after apply' };
  return isMissing(value) ? undefined : { text: textOf(value) };
};

interface Node {
  path: Path;
  before: unknown;
  after: unknown;
  unknown: unknown;
  beforeSensitive: unknown;
  afterSensitive: unknown;
}

const keysOf = (...values: unknown[]): (string | number)[] => {
  const lists = values.filter(Array.isArray);
  if (lists.length) return Array.from({ length: Math.max(...lists.map((list) => list.length)) }, (_, i) => i);
  return [...new Set(values.filter(isObject).flatMap(Object.keys))].sort();
};

const isPlainList = (value: unknown): value is unknown[] =>
  Array.isArray(value) && value.every((one) => typeof one !== 'object' || one === null);

/** Of two lists of plain values what only one of them has: an element put in front is one row, not a row each. */
const listRows = ({ path, before, after }: Node, forces: boolean): Row[] => {
  const left = [...(before as unknown[])];
  const added = (after as unknown[]).flatMap((value, i) => {
    const at = left.indexOf(value);
    if (at < 0) return [{ value, i }];
    left.splice(at, 1);
    return [];
  });
  const removed = left.map((value) => ({ value, i: (before as unknown[]).indexOf(value) }));
  return [
    ...removed.map(
      ({ value, i }): Row => ({ path: shown([...path, i]), before: { text: textOf(value) }, after: undefined, forces }),
    ),
    ...added.map(
      ({ value, i }): Row => ({ path: shown([...path, i]), before: undefined, after: { text: textOf(value) }, forces }),
    ),
  ];
};

/** What changes of a resource or an output, leaf by leaf. */
export const rowsOf = ({ change }: Pick<Difference, 'change'>): Row[] => {
  const rows: Row[] = [];
  const forcing = (change.replace_paths ?? []).map((path) => shown(path));
  const forces = (path: string): boolean =>
    forcing.some((one) => path === one || (path.startsWith(one) && /^[.[]/.test(path.slice(one.length))));
  const walk = (node: Node): void => {
    const { path, before, after, unknown, beforeSensitive, afterSensitive } = node;
    const sensitive = beforeSensitive === true || afterSensitive === true;
    const name = shown(path);
    const whole = sensitive || unknown === true;
    if (!whole && (isBranch(before) || isBranch(after) || isBranch(unknown))) {
      const compound = (value: unknown) => isMissing(value) || typeof value === 'object';
      if (compound(before) && compound(after)) {
        if (
          isPlainList(before) &&
          isPlainList(after) &&
          !isBranch(unknown) &&
          !isBranch(beforeSensitive) &&
          !isBranch(afterSensitive)
        ) {
          const found = listRows(node, forces(name));
          if (found.length || same(before, after)) {
            rows.push(...found);
            return;
          }
        }
        for (const key of keysOf(before, after, unknown)) {
          walk({
            path: [...path, key],
            before: part(before, key),
            after: part(after, key),
            unknown: part(unknown, key),
            beforeSensitive: part(beforeSensitive, key),
            afterSensitive: part(afterSensitive, key),
          });
        }
        return;
      }
    }
    const isUnknown = unknown === true;
    if (!isUnknown && (same(before, after) || (isMissing(before) && isMissing(after)))) return;
    rows.push({
      path: name,
      before: sideOf(before, sensitive, false),
      after: sideOf(after, sensitive && !isUnknown, isUnknown),
      forces: forces(name),
    });
  };
  walk({
    path: [],
    before: change.before,
    after: change.after,
    unknown: change.after_unknown,
    beforeSensitive: change.before_sensitive,
    afterSensitive: change.after_sensitive,
  });
  return rows;
};
