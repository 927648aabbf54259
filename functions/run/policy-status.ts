import type { Run } from './run.ts';
import { isFinal, type Timestamp } from './status.ts';

/**
 * Statuses of a run's policy check and policy evaluation in the API. A result becomes visible only when the run has left
 * the status of the check, because clients act on the run as soon as they have read the result. A check that will never
 * run has a final status too. Pure.
 */

type Facts = Pick<Run, 'status' | 'statusTimestamps' | 'checks' | 'verdicts' | 'overrides'>;

export type PolicyCheckStatus =
  | 'pending'
  | 'queued'
  | 'passed'
  | 'soft_failed'
  | 'hard_failed'
  | 'overridden'
  | 'errored'
  | 'canceled'
  | 'unreachable';

export type PolicyEvaluationStatus =
  | 'pending'
  | 'running'
  | 'passed'
  | 'failed'
  | 'overridden'
  | 'errored'
  | 'canceled'
  | 'unreachable';

/** Status of a run that ended without a result. */
const unjudged = ({ status, statusTimestamps }: Facts, startName: string): 'errored' | 'canceled' | 'unreachable' => {
  if (!statusTimestamps[startName]) return 'unreachable';
  return status === 'errored' ? 'errored' : 'canceled';
};

/** HCP API: policy checks. */
export const policyCheckStatus = (run: Facts): PolicyCheckStatus => {
  const { status, verdicts, overrides } = run;
  const open = !isFinal(status);
  if (open && status === 'policy_checking') return 'queued';
  if (!verdicts?.policyCheck) return open ? 'pending' : unjudged(run, 'policy-checking-at');
  return overrides?.policyCheck ? 'overridden' : verdicts.policyCheck;
};

/** Policy evaluations are part of the post-plan stage, and end with it. HCP API: policy evaluations. */
export const policyEvaluationStatus = (run: Facts): PolicyEvaluationStatus => {
  const { status, verdicts, overrides } = run;
  const open = !isFinal(status);
  if (open && status === 'post_plan_running') return 'running';
  if (!verdicts?.policyEvaluation) {
    if (open) return 'pending';
    // A run task failed the stage before any policy was evaluated.
    return verdicts?.post_plan === 'failed' ? 'unreachable' : unjudged(run, 'post-plan-running-at');
  }
  if (verdicts.policyEvaluation === 'passed') return 'passed';
  return overrides?.policyEvaluation ? 'overridden' : 'failed';
};

/** Whether the status is final and has a result. */
export const isJudged = (status: PolicyCheckStatus | PolicyEvaluationStatus): boolean =>
  !['pending', 'queued', 'running', 'errored', 'canceled', 'unreachable'].includes(status);

/** Timestamps by API key: begin, result and override. */
export const policyTimestamps = (
  run: Facts,
  status: PolicyCheckStatus | PolicyEvaluationStatus,
  { begun, verdict, at }: { begun: 'queued-at' | 'running-at'; verdict?: string; at?: Timestamp },
): Record<string, Timestamp> => {
  const [check, entered] =
    begun === 'queued-at'
      ? (['policyCheck', 'policy-checking-at'] as const)
      : (['policyEvaluation', 'post-plan-running-at'] as const);
  const from = run.statusTimestamps[entered];
  const override = run.overrides?.[check];
  return {
    ...(from ? { [begun]: from } : {}),
    ...(verdict && at && isJudged(status) ? { [`${verdict.replaceAll('_', '-')}-at`]: at } : {}),
    ...(override ? { 'overridden-at': override.at } : {}),
  };
};

export const policyCheckId = (runId: string): string => `polchk-${charactersOf(runId)}`;

export const charactersOf = (runId: string): string => runId.replace(/^run-/, '');
