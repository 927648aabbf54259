import type { Timestamp } from './status.ts';

/** What teams are told of change requests (HCP API: notification configurations). Pure. */

export const changeRequestTriggers = ['team:change_request', 'change_request:created'] as const;
export type ChangeRequestTrigger = (typeof changeRequestTriggers)[number];

export interface NoticedChangeRequest {
  id: string;
  subject: string;
  message: string | null;
  createdAt: Timestamp;
  /** Id of the user. */
  createdBy: string;
}

/** What the function Notify is given. `id` stays the same however often the event is delivered. */
export interface ChangeRequestEvent {
  id: string;
  workspaceId: string;
  changeRequest: NoticedChangeRequest;
}

export interface ChangeRequestPayload {
  payload_version: 1;
  notification_configuration_id: string;
  change_request_url: string;
  change_request_subject: string;
  change_request_message: string | null;
  change_request_created_at: string;
  change_request_created_by: string;
  workspace_id: string;
  workspace_name: string;
  organization_name: string;
}

interface Facts {
  configurationId: string;
  /** Name of the user. */
  createdBy: string;
  /** Of this platform, without a slash at the end. */
  baseUrl: string;
}

/** As sent to destinations of type `generic`. */
export const changeRequestPayload = (
  request: NoticedChangeRequest,
  workspace: { id: string; name: string; organization: string },
  { configurationId, createdBy, baseUrl }: Facts,
): ChangeRequestPayload => ({
  payload_version: 1,
  notification_configuration_id: configurationId,
  // The page shows them on the workspace's overview.
  change_request_url: `${baseUrl}/app/${workspace.organization}/workspaces/${workspace.name}`,
  change_request_subject: request.subject,
  change_request_message: request.message,
  change_request_created_at: request.createdAt,
  change_request_created_by: createdBy,
  workspace_id: workspace.id,
  workspace_name: workspace.name,
  organization_name: workspace.organization,
});
