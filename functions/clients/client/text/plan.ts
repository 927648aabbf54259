import type { Secrets } from '#platform/formats/marks.ts';

/**
 * A plan as a list of differences, from the API's `json-output-redacted`, which contains no sensitive values
 * (Terraform's JSON output format 1.x).
 */

export interface Change {
  actions: string[];
  before?: unknown;
  after?: unknown;
  after_unknown?: unknown;
  /** Not Terraform's: of a comparison of two plans. */
  before_unknown?: unknown;
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
  /** Addresses in the configuration (runner/program/dependencies.ts). */
  resource_dependencies?: Record<string, string[]>;
}

export type Kind = 'create' | 'update' | 'replace' | 'destroy' | 'forget' | 'import' | 'move' | 'read' | 'same';

export interface Difference {
  address: string;
  kind: Kind;
  /** Further kinds of change. */
  also: ('move' | 'import')[];
  /** Notes, such as where it was moved from, or why it is replaced. */
  notes: string[];
  /** Id of an object left over from an earlier replacement. */
  deposed?: string | undefined;
  change: Change;
  /** Attributes that are always hidden. */
  secrets?: Secrets;
}

const reasons: Record<string, string> = {
  replace_because_tainted: 'it is tainted: an earlier apply did not complete it',
  replace_because_cannot_update: 'it cannot be updated in place',
  replace_by_request: 'its replacement was requested',
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
  const kind = kindOf(resource);
  const moved = previous_address !== undefined && previous_address !== address;
  const also = [moved && 'move', change.importing && 'import'].filter(
    (extra) => extra === 'move' || extra === 'import',
  );
  const notes = [
    moved && `moved from ${previous_address}`,
    change.importing && `imported${change.importing.id ? ` from ${change.importing.id}` : ''}`,
    deposed && `left over from an earlier replacement (deposed ${deposed})`,
    reasons[action_reason],
    change.actions[0] === 'create' && change.actions.length === 2 && 'created before the old one is destroyed',
  ].filter((note) => typeof note === 'string');
  return { address, kind, also: also.filter((extra) => extra !== kind), notes, deposed, change };
};

export interface PlanDifferences {
  resources: Difference[];
  outputs: Difference[];
  /** Changes outside of Terraform since the last run. */
  drift: Difference[];
}

/** `node[2]` before `node[10]`. */
const natural = new Intl.Collator('en', { numeric: true });

/** Most important kinds first. */
export const kindsByRisk: readonly Kind[] = [
  'destroy',
  'replace',
  'update',
  'create',
  'import',
  'move',
  'forget',
  'read',
  'same',
];

const byAddress = (a: Difference, b: Difference): number => natural.compare(a.address, b.address);

const risk = new Map(kindsByRisk.map((kind, i) => [kind, i]));

/** Destructive changes first. */
export const byRisk = (a: Difference, b: Difference): number =>
  (risk.get(a.kind) ?? 0) - (risk.get(b.kind) ?? 0) || byAddress(a, b);

export const differencesOf = (plan: RedactedPlan): PlanDifferences => ({
  resources: (plan.resource_changes ?? []).map(differenceOf).sort(byRisk),
  drift: (plan.resource_drift ?? []).map(differenceOf).sort(byRisk),
  outputs: Object.entries(plan.output_changes ?? {})
    .map(
      ([address, change]): Difference => ({ address, kind: kindOf({ address, change }), also: [], notes: [], change }),
    )
    .sort(byAddress),
});
