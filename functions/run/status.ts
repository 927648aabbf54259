/** Run statuses, as the API spells them (HCP API: runs), and what each means for the queue. */

export const runStatuses = [
  'pending',
  'fetching',
  'fetching_completed',
  'pre_plan_running',
  'pre_plan_completed',
  'plan_queued',
  'planning',
  'planned',
  'post_plan_running',
  'post_plan_awaiting_decision',
  'post_plan_completed',
  'cost_estimating',
  'cost_estimated',
  'policy_checking',
  'policy_override',
  'policy_soft_failed',
  'policy_checked',
  'planned_and_saved',
  'planned_and_finished',
  'confirmed',
  'pre_apply_running',
  'pre_apply_completed',
  'apply_queued',
  'applying',
  'post_apply_running',
  'post_apply_completed',
  'applied',
  'discarded',
  'errored',
  'canceled',
] as const;
export type RunStatus = (typeof runStatuses)[number];

/** A run in one of these never changes again and holds nothing. `policy_soft_failed` ends plan-only runs only. */
export const finalStatuses = [
  'applied',
  'planned_and_finished',
  'policy_soft_failed',
  'discarded',
  'errored',
  'canceled',
] as const satisfies readonly RunStatus[];
export type FinalStatus = (typeof finalStatuses)[number];

export const isFinal = (status: RunStatus): status is FinalStatus =>
  (finalStatuses as readonly RunStatus[]).includes(status);

export const phaseStatuses = [
  'pending',
  'queued',
  'running',
  'finished',
  'errored',
  'canceled',
  'unreachable',
] as const;
/** Status of a plan or an apply (HCP API: plans, applies). */
export type PhaseStatus = (typeof phaseStatuses)[number];

export const isPhaseFinal = (status: PhaseStatus): boolean =>
  status === 'finished' || status === 'errored' || status === 'canceled' || status === 'unreachable';

/** `plan_queued` → `plan-queued-at`: the key under which a status is stamped, once (lifecycle: timeline). */
export const timestampKey = (status: string): string =>
  status === 'fetching_completed' ? 'fetched-at' : `${status.replaceAll('_', '-')}-at`;
