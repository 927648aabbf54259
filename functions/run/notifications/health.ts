import { allChecksSucceeded, isDrifted } from '../health.ts';
import type { HealthResult } from '../health-record.ts';
import { type Message, present, type TriggerWords } from './message.ts';

/** Notifications of health assessments (HCP API: notification configurations). Pure. */

export const healthTriggers = {
  'assessment:drifted': {
    label: 'Drift',
    hint: 'A health assessment found resources that were changed outside of Terraform.',
  },
  'assessment:check_failure': {
    label: 'Failed checks',
    hint: 'A health assessment found checks that do not pass.',
  },
  'assessment:failed': { label: 'Assessment failed', hint: 'A health assessment failed to run.' },
} as const satisfies Record<string, TriggerWords>;
export type HealthTrigger = keyof typeof healthTriggers;

export interface HealthEvent {
  kind: 'health';
  id: string;
  workspaceId: string;
  result: HealthResult;
  prior?: HealthResult;
}

/** Triggers of the notifications that a result sends. */
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

interface HealthPayload {
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

/** `run-X` → `asmtres-X`: a result shares the characters of its run's id. */
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

const payloadOf = (
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

const countOf = (number: number | undefined): string | undefined => (number === undefined ? undefined : String(number));

/** @param about `baseUrl`: URL of this platform, without a trailing slash */
export const healthMessage = (
  trigger: HealthTrigger,
  event: Pick<HealthEvent, 'result' | 'prior'>,
  workspace: { id: string; name: string; organization: string },
  about: { configurationId: string; baseUrl: string },
): Message => ({
  payload: payloadOf(trigger, event, workspace, about),
  headline: `${workspace.name}: ${messages[trigger]}`,
  facts: present([
    ['Organization', workspace.organization],
    ['Workspace', workspace.name],
    ['Resources drifted', countOf(event.result.resourcesDrifted)],
    ['Checks failed', countOf(event.result.checksFailed)],
  ]),
  link: null,
  tone: 'neutral',
});
