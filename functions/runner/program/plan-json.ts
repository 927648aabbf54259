import type { Counts } from '#run/phase-report.ts';
import type { Configuration } from './dependencies.ts';

/** The parts of `terraform show -json` that the runner reads (Terraform's JSON output format 1.x). */
export interface PlanJson {
  format_version: string;
  /** Whether an apply would change anything; OpenTofu has no such field. */
  applyable?: boolean;
  resource_changes?: ResourceChange[];
  resource_drift?: ResourceChange[];
  relevant_attributes?: unknown;
  output_changes?: Record<string, Change>;
  deferred_changes?: { reason?: string; resource_change?: ResourceChange }[];
  planned_values?: { root_module?: PlanValues };
  configuration?: Configuration;
  prior_state?: { values?: { root_module?: PlanValues } };
  /** Terraform could not complete the plan. */
  errored?: boolean;
  checks?: Check[];
}

type CheckStatus = 'pass' | 'fail' | 'error' | 'unknown';

/** Conditions of one object of the configuration, and those of each of its instances. */
export interface Check {
  address?: { kind?: string; to_display?: string };
  status: CheckStatus;
  instances?: { status: CheckStatus }[];
}

/** A module in a state. */
export interface PlanValues {
  resources?: { mode?: string; type: string; provider_name: string }[];
  child_modules?: PlanValues[];
}

export interface ResourceChange {
  address?: string;
  previous_address?: string;
  mode?: string;
  type: string;
  provider_name: string;
  change: Change;
  [key: string]: unknown;
}

export interface Change {
  actions: string[];
  before?: unknown;
  after?: unknown;
  before_sensitive?: unknown;
  after_sensitive?: unknown;
  importing?: unknown;
  [key: string]: unknown;
}

/** Number of instances of managed resources in a module and the modules below it. */
export const managedInstances = ({ resources = [], child_modules = [] }: PlanValues): number =>
  child_modules.reduce(
    (sum, module) => sum + managedInstances(module),
    resources.filter(({ mode }) => mode !== 'data').length,
  );

/** Number of managed resource instances after the apply. */
export const resourcesAfter = ({ planned_values }: PlanJson): number =>
  managedInstances(planned_values?.root_module ?? {});

const passive = new Set(['no-op', 'read']);

const isChange = ({ actions, importing }: Change): boolean =>
  !!importing || actions.some((action) => !passive.has(action));

/**
 * Whether an apply would change anything. A refresh-only plan can only accept drift.
 * @param refreshOnly the plan's mode
 */
export const changesAnything = (plan: PlanJson, refreshOnly: boolean): boolean =>
  plan.applyable ??
  ((refreshOnly && (plan.resource_drift ?? []).length > 0) ||
    (plan.resource_changes ?? []).some(({ change, previous_address }) => isChange(change) || !!previous_address) ||
    Object.values(plan.output_changes ?? {}).some(isChange));

/** Like Terraform's summary: a replacement counts as one added and one destroyed, data sources do not count. */
export const countChanges = ({ resource_changes = [] }: PlanJson): Counts => {
  const changes = resource_changes.filter(({ mode }) => mode !== 'data').map(({ change }) => change);
  const having = (action: string) => changes.filter(({ actions }) => actions.includes(action)).length;
  return {
    additions: having('create'),
    changes: having('update'),
    destructions: having('delete'),
    imports: changes.filter(({ importing }) => importing).length,
  };
};
