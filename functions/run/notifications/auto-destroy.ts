import type { RunStatus, Timestamp } from '../status.ts';
import { type Message, present, type TriggerWords } from './message.ts';

/** Notifications of workspaces that are destroyed by their schedule (HCP API: notification configurations). Pure. */

export const autoDestroyTriggers = {
  'workspace:auto_destroy_reminder': {
    label: 'Auto-destroy reminder',
    hint: 'The workspace is destroyed within 24 or 12 hours.',
  },
  'workspace:auto_destroy_run_results': {
    label: 'Auto-destroy results',
    hint: 'The workspace was destroyed automatically, or could not be.',
  },
} as const satisfies Record<string, TriggerWords>;
export type AutoDestroyTrigger = keyof typeof autoDestroyTriggers;

export interface AutoDestroyNotice {
  kind: 'reminder' | 'results';
  /** Planned or actual time of the destruction. Each pair of kind and time is sent once. */
  at: Timestamp;
  run?: { id: string; status: RunStatus; createdAt: Timestamp };
  /** Reason why no run was created. */
  obstacle?: string;
}

export interface AutoDestroyEvent {
  kind: 'autoDestroy';
  id: string;
  workspaceId: string;
  notice: AutoDestroyNotice;
}

export const triggerOf = ({ kind }: AutoDestroyNotice): AutoDestroyTrigger =>
  kind === 'reminder' ? 'workspace:auto_destroy_reminder' : 'workspace:auto_destroy_run_results';

interface AutoDestroyPayload {
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

const payloadOf = (
  { kind, at, run, obstacle }: AutoDestroyNotice,
  workspace: { name: string; organization: string },
  { configurationId, baseUrl }: { configurationId: string; baseUrl: string },
): AutoDestroyPayload => ({
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

/** @param about `baseUrl`: URL of this platform, without a trailing slash */
export const autoDestroyMessage = (
  notice: AutoDestroyNotice,
  workspace: { name: string; organization: string },
  about: { configurationId: string; baseUrl: string },
): Message => {
  const payload = payloadOf(notice, workspace, about);
  const { details } = payload;
  return {
    payload,
    headline: `${workspace.name}: ${payload.message}`,
    facts: present([
      ['Organization', workspace.organization],
      ['Workspace', workspace.name],
      ['Destroyed at', details.auto_destroy_at],
      ['Run', details.run_external_id],
      ['Status', details.run_status ?? details.run_create_error_message],
    ]),
    link: null,
    tone: 'neutral',
  };
};
