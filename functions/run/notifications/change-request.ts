import type { Timestamp } from '../status.ts';
import { type Message, present, type TriggerWords } from './message.ts';

/** Notifications of teams about change requests (HCP API: notification configurations). Pure. */

const words: TriggerWords = { label: 'Change request', hint: 'Someone requested a change of a workspace.' };

/** HCP Terraform documents the first, and its Go client sends the second; both mean the same. */
export const changeRequestTriggers = {
  'team:change_request': words,
  'change_request:created': words,
} as const satisfies Record<string, TriggerWords>;

export interface NoticedChangeRequest {
  id: string;
  subject: string;
  message: string | null;
  createdAt: Timestamp;
  /** Id of the user. */
  createdBy: string;
}

export interface ChangeRequestEvent {
  kind: 'changeRequest';
  id: string;
  workspaceId: string;
  changeRequest: NoticedChangeRequest;
}

interface ChangeRequestPayload {
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
  /** URL of this platform, without a trailing slash. */
  baseUrl: string;
}

const payloadOf = (
  request: NoticedChangeRequest,
  workspace: { id: string; name: string; organization: string },
  { configurationId, createdBy, baseUrl }: Facts,
): ChangeRequestPayload => ({
  payload_version: 1,
  notification_configuration_id: configurationId,
  // The page shows change requests on the workspace's overview.
  change_request_url: `${baseUrl}/app/${workspace.organization}/workspaces/${workspace.name}`,
  change_request_subject: request.subject,
  change_request_message: request.message,
  change_request_created_at: request.createdAt,
  change_request_created_by: createdBy,
  workspace_id: workspace.id,
  workspace_name: workspace.name,
  organization_name: workspace.organization,
});

export const changeRequestMessage = (
  request: NoticedChangeRequest,
  workspace: { id: string; name: string; organization: string },
  facts: Facts,
): Message => {
  const payload = payloadOf(request, workspace, facts);
  return {
    payload,
    headline: `${workspace.name}: ${request.subject}`,
    facts: present([
      ['Organization', workspace.organization],
      ['Workspace', workspace.name],
      ['Message', request.message],
      ['Requested by', facts.createdBy],
    ]),
    link: { url: payload.change_request_url, text: 'Open the change request' },
    tone: 'neutral',
  };
};
