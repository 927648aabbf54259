import type { PhaseReport } from '#run/protocols/runner.ts';
import { managedInstances, type PlanJson } from './plan-json.ts';

/** Health of a workspace, from its plan (HCP Terraform: health assessments). */

type Health = NonNullable<PhaseReport['health']>;
type Drift = NonNullable<PlanJson['resource_drift']>[number];

const changing = (actions: string[]): boolean => actions.some((action) => action !== 'no-op' && action !== 'read');

/**
 * Managed resources that were changed or deleted outside of Terraform, and that an apply would restore.
 * Changes of attributes that are not configured, and edits of the configuration, are not drift.
 */
const driftedIn = ({ resource_drift = [], resource_changes = [] }: PlanJson): Drift[] => {
  const corrected = new Set(
    resource_changes
      .filter(({ mode, change }) => mode !== 'data' && changing(change.actions))
      .flatMap(({ address, previous_address }) => [address, previous_address]),
  );
  return resource_drift.filter(
    ({ mode, address, change }) =>
      mode !== 'data' && changing(change.actions) && address !== undefined && corrected.has(address),
  );
};

const statuses = {
  pass: 'checksPassed',
  fail: 'checksFailed',
  error: 'checksErrored',
  unknown: 'checksUnknown',
} as const;

/** Counts of preconditions, postconditions and check blocks; undefined if the configuration has none. */
const checksIn = ({ checks = [] }: PlanJson): Health | undefined => {
  const judged = checks.filter(({ address }) => address?.kind !== 'var');
  if (judged.length === 0) return undefined;
  const counts = { checksPassed: 0, checksFailed: 0, checksErrored: 0, checksUnknown: 0 };
  for (const { status, instances = [] } of judged) {
    for (const instance of instances.length ? instances : [{ status }])
      counts[statuses[instance.status] ?? 'checksUnknown']++;
  }
  return counts;
};

const failing = new Set<string>(['fail', 'error']);

export const healthIn = (plan: PlanJson): Health => {
  // A plan that errored has not evaluated all resources.
  if (plan.errored) return { ...checksIn(plan) };
  const drift = driftedIn(plan);
  // The prior state is already refreshed: it has no deleted resources.
  const present = drift.filter(({ change }) => !change.actions.includes('delete')).length;
  const managed = managedInstances(plan.prior_state?.values?.root_module ?? {});
  return {
    resourcesDrifted: drift.length,
    resourcesUndrifted: Math.max(0, managed - present),
    ...checksIn(plan),
  };
};

/**
 * Whether the plan failed because a condition of a resource or output does not hold, which is a finding, not an
 * error.
 */
export const isStoppedByCondition = ({ checks = [] }: PlanJson): boolean =>
  checks.some(
    ({ address, status }) => (address?.kind === 'resource' || address?.kind === 'output_value') && failing.has(status),
  );
