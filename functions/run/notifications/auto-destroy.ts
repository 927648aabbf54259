import type { RunStatus, Timestamp } from './status.ts';

/** Notifications of workspaces that are destroyed by their schedule (HCP API: notification configurations). Pure. */

export const workspaceTriggers = ['workspace:auto_destroy_reminder', 'workspace:auto_destroy_run_results'] as const;
export type WorkspaceTrigger = (typeof workspaceTriggers)[number];

export interface AutoDestroyNotice {
  kind: 'reminder' | 'results';
  /** When it is to be destroyed, or was. Each pair of kind and time is sent once. */
  at: Timestamp;
  run?: { id: string; status: RunStatus; createdAt: Timestamp };
  /** Why no run was created. */
  obstacle?: string;
}

/** Input of the function Notify. `id` stays the same however often the event is delivered. */
export interface WorkspaceEvent {
  id: string;
  workspaceId: string;
  notice: AutoDestroyNotice;
}

export const triggerOf = ({ kind }: AutoDestroyNotice): WorkspaceTrigger =>
  kind === 'reminder' ? 'workspace:auto_destroy_reminder' : 'workspace:auto_destroy_run_results';

export interface WorkspacePayload {
  payload_version: '2';
  notification_configuration_id: string;
  notification_configuration_url: string;
  trigger_scope: 'workspace';
  trigger: 'workspace:auto_destroy_reminder' | 'workspace:auto_destroy_results';
  message: string;
  details: {
    auto_destroy_at: string;
    run_created_at: string | null;
    run_status: RunStatus | null;
    run_external_id: string | null;
    run_create_error_message: string | null;
    trigger_type: AutoDestroyNotice['kind'];
    workspace_name: string;
    organization_name: string;
  };
}

/** As sent to destinations of type `generic`. `baseUrl`: of this platform, without a slash at the end. */
export const workspacePayload = (
  { kind, at, run, obstacle }: AutoDestroyNotice,
  workspace: { name: string; organization: string },
  { configurationId, baseUrl }: { configurationId: string; baseUrl: string },
): WorkspacePayload => ({
  payload_version: '2',
  notification_configuration_id: configurationId,
  notification_configuration_url: `${baseUrl}/api/v2/notification-configurations/${configurationId}`,
  trigger_scope: 'workspace',
  trigger: kind === 'reminder' ? 'workspace:auto_destroy_reminder' : 'workspace:auto_destroy_results',
  message: kind === 'reminder' ? 'Auto Destroy Reminder' : 'Auto Destroy Results',
  details: {
    auto_destroy_at: at,
    run_created_at: run?.createdAt ?? null,
    run_status: run?.status ?? null,
    run_external_id: run?.id ?? null,
    run_create_error_message: obstacle ?? null,
    trigger_type: kind,
    workspace_name: workspace.name,
    organization_name: workspace.organization,
  },
});
