import { allChecksSucceeded, isDrifted } from './health.ts';
import type { HealthResult } from './health-record.ts';

/** Notifications of health assessments (HCP API: notification configurations). Pure. */

export const healthTriggers = ['assessment:drifted', 'assessment:check_failure', 'assessment:failed'] as const;
export type HealthTrigger = (typeof healthTriggers)[number];

/** Input of the function Notify. `id` stays the same however often the event is delivered. */
export interface HealthEvent {
  id: string;
  workspaceId: string;
  result: HealthResult;
  prior?: HealthResult;
}

/** The triggers that a result sets off. */
export const healthTriggersOf = (result: HealthResult): HealthTrigger[] => {
  if (!result.succeeded) return ['assessment:failed'];
  return [
    ...(isDrifted(result) ? (['assessment:drifted'] as const) : []),
    ...(allChecksSucceeded(result) === false ? (['assessment:check_failure'] as const) : []),
  ];
};

interface ResultDetails {
  id: string;
  url: string;
  succeeded: boolean;
  drifted: boolean | null;
  all_checks_succeeded: boolean | null;
  resources_drifted: number | null;
  resources_undrifted: number | null;
  checks_passed: number | null;
  checks_failed: number | null;
  checks_errored: number | null;
  checks_unknown: number | null;
  created_at: string;
}

export interface HealthPayload {
  payload_version: '2';
  notification_configuration_id: string;
  notification_configuration_url: string;
  trigger_scope: 'assessment';
  trigger: HealthTrigger;
  message: string;
  details: {
    new_assessment_result: ResultDetails;
    prior_assessment_result: ResultDetails | null;
    workspace_id: string;
    workspace_name: string;
    organization_name: string;
  };
}

/** `run-X` → `asmtres-X`: a result shares the characters of the run that it is of. */
export const assessmentResultId = (runId: string): string => runId.replace(/^run-/, 'asmtres-');

const detailsOf = (result: HealthResult, baseUrl: string): ResultDetails => {
  const id = assessmentResultId(result.runId);
  return {
    id,
    url: `${baseUrl}/api/v2/assessment-results/${id}`,
    succeeded: result.succeeded,
    drifted: isDrifted(result) ?? null,
    all_checks_succeeded: allChecksSucceeded(result) ?? null,
    resources_drifted: result.resourcesDrifted ?? null,
    resources_undrifted: result.resourcesUndrifted ?? null,
    checks_passed: result.checksPassed ?? null,
    checks_failed: result.checksFailed ?? null,
    checks_errored: result.checksErrored ?? null,
    checks_unknown: result.checksUnknown ?? null,
    created_at: result.at,
  };
};

const messages: Record<HealthTrigger, string> = {
  'assessment:drifted': 'Drift Detected',
  'assessment:check_failure': 'Check Failure',
  'assessment:failed': 'Assessment Failed',
};

/** As sent to destinations of type `generic`. `baseUrl`: of this platform, without a slash at the end. */
export const healthPayload = (
  trigger: HealthTrigger,
  { result, prior }: Pick<HealthEvent, 'result' | 'prior'>,
  workspace: { id: string; name: string; organization: string },
  { configurationId, baseUrl }: { configurationId: string; baseUrl: string },
): HealthPayload => ({
  payload_version: '2',
  notification_configuration_id: configurationId,
  notification_configuration_url: `${baseUrl}/api/v2/notification-configurations/${configurationId}`,
  trigger_scope: 'assessment',
  trigger,
  message: messages[trigger],
  details: {
    new_assessment_result: detailsOf(result, baseUrl),
    prior_assessment_result: prior ? detailsOf(prior, baseUrl) : null,
    workspace_id: workspace.id,
    workspace_name: workspace.name,
    organization_name: workspace.organization,
  },
});
