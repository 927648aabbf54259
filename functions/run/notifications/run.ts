import { waitsForPerson } from './actions.ts';
import { type WorkspaceTrigger, workspaceTriggers } from './auto-destroy-notice.ts';
import { type ChangeRequestTrigger, changeRequestTriggers } from './change-request-notice.ts';
import { type HealthTrigger, healthTriggers } from './health-notice.ts';
import type { PhaseReport, Run } from './run.ts';
import { type NotificationTrigger, notificationTriggers, type RunStatus, statuses, timestampKey } from './status.ts';

/** Notifications of a run, and their triggers (HCP API: notification configurations). Pure. */

export type { NotificationTrigger } from './status.ts';

/** Of workspaces and projects. */
export const triggers = [...notificationTriggers, ...workspaceTriggers, ...healthTriggers];
/** Of teams: the first is what HCP Terraform documents, the second what its Go client has; both mean the same. */
export const teamTriggers = changeRequestTriggers;
export type Trigger = NotificationTrigger | WorkspaceTrigger | HealthTrigger | ChangeRequestTrigger;

export const destinationTypes = ['generic', 'slack', 'microsoft-teams'] as const;
/** With a URL; `email` has recipients. */
export type UrlDestinationType = (typeof destinationTypes)[number];
export type DestinationType = UrlDestinationType | 'email';

/** A notification of a run: the trigger and its status. Each pair is sent once. */
export interface Notification {
  trigger: NotificationTrigger;
  status: RunStatus;
}

/** For a run that has just entered its status; saved plans and plan-only runs need no attention. */
export const notificationOf = (
  run: Pick<Run, 'status' | 'decision' | 'cancel' | 'planOnly'>,
): Notification | undefined => {
  const { notifies: trigger } = statuses[run.status];
  if (run.planOnly || trigger === null) return undefined;
  // A decision was made before the state was entered.
  if (trigger === 'run:needs_attention' && !waitsForPerson(run)) return undefined;
  return { trigger, status: run.status };
};

/** As sent to destinations of type `generic`; the fields of the run are null in a verification. */
export interface NotificationPayload {
  payload_version: 1;
  notification_configuration_id: string;
  run_url: string | null;
  run_id: string | null;
  run_message: string | null;
  run_created_at: string | null;
  run_created_by: string | null;
  workspace_id: string | null;
  workspace_name: string | null;
  organization_name: string | null;
  notifications: {
    message: string;
    trigger: NotificationTrigger | 'verification';
    run_status: RunStatus | null;
    run_updated_at: string | null;
    run_updated_by: string | null;
  }[];
}

const changes = (
  { resourceAdditions = 0, resourceChanges = 0, resourceDestructions = 0 }: PhaseReport,
  [add, change, destroy]: [string, string, string],
): string => `${resourceAdditions} ${add}, ${resourceChanges} ${change}, ${resourceDestructions} ${destroy}`;

const planned = ({ plan: { report } }: Run): string =>
  report?.hasChanges ? `: ${changes(report, ['to add', 'to change', 'to destroy'])}` : '';

/** The message. Counts only: names and values of resources stay where the run's readers are. */
const messageOf = (run: Run, { status }: Notification): string => {
  const { apply } = run;
  switch (status) {
    case 'pending':
      return 'Run created';
    case 'planning':
      return 'Run planning';
    case 'post_plan_awaiting_decision':
    case 'policy_override':
      return `Run planned${planned(run)}. Policies failed: override them or discard the run`;
    case 'applying':
      return `Run applying${planned(run)}`;
    case 'applied':
      return apply.report ? `Run applied: ${changes(apply.report, ['added', 'changed', 'destroyed'])}` : 'Run applied';
    case 'planned_and_finished':
      return run.plan.report?.hasChanges ? 'Run planned and finished' : 'Run planned and finished: no changes';
    case 'errored':
      return `Run errored ${apply.status === 'errored' ? 'while applying' : 'before applying'}`;
    case 'canceled':
      return 'Run canceled';
    case 'discarded':
      return 'Run discarded';
    default:
      return `Run planned${planned(run)}. Confirm or discard it`;
  }
};

/** Id of the user who caused a status, if any. */
export const authorOf = (run: Run, status: RunStatus): string | undefined => {
  if (status === 'pending') return run.createdBy;
  if (status === 'canceled') return run.cancel?.by;
  return status === 'discarded' || status === 'applying' ? run.decision?.by : undefined;
};

export interface NotificationFacts {
  configurationId: string;
  /** Names of users. */
  createdBy: string;
  updatedBy: string | null;
  /** Of this platform, without a slash at the end. */
  baseUrl: string;
}

export const notificationPayload = (
  run: Run,
  notice: Notification,
  { configurationId, createdBy, updatedBy, baseUrl }: NotificationFacts,
): NotificationPayload => ({
  payload_version: 1,
  notification_configuration_id: configurationId,
  run_url: `${baseUrl}/app/${run.organization}/workspaces/${run.workspaceName}/runs/${run.id}`,
  run_id: run.id,
  run_message: run.message,
  run_created_at: run.createdAt,
  run_created_by: createdBy,
  workspace_id: run.workspaceId,
  workspace_name: run.workspaceName,
  organization_name: run.organization,
  notifications: [
    {
      message: messageOf(run, notice),
      trigger: notice.trigger,
      run_status: notice.status,
      run_updated_at: run.statusTimestamps[timestampKey(notice.status)] ?? run.createdAt,
      run_updated_by: updatedBy,
    },
  ],
});

/** Only verifies the destination. */
export const verificationPayload = (configurationId: string, name: string): NotificationPayload => ({
  payload_version: 1,
  notification_configuration_id: configurationId,
  run_url: null,
  run_id: null,
  run_message: null,
  run_created_at: null,
  run_created_by: null,
  workspace_id: null,
  workspace_name: null,
  organization_name: null,
  notifications: [
    {
      message: `Verification of ${name}`,
      trigger: 'verification',
      run_status: null,
      run_updated_at: null,
      run_updated_by: null,
    },
  ],
});

/** Input of the function Notify. `id` stays the same however often the event is delivered. */
export interface NotificationEvent extends Notification {
  id: string;
  runId: string;
}
