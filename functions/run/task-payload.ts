import type { TaskStage } from './check-record.ts';
import { organizationNameOf, type Run } from './run.ts';
import type { EnforcementLevel } from './task-stages.ts';

/** The request to a run task. Pure. */

interface Common {
  payload_version: 1;
  access_token: string;
  stage: TaskStage;
  is_speculative: boolean;
  task_result_id: string;
  task_result_enforcement_level: EnforcementLevel;
  task_result_callback_url: string;
  run_app_url: string;
  run_id: string;
  run_message: string;
  run_created_at: string;
  run_created_by: string;
  workspace_id: string;
  workspace_name: string;
  workspace_app_url: string;
  workspace_working_directory: string | null;
  organization_name: string;
  configuration_version_id: string;
  configuration_version_download_url: string | null;
  vcs_repo_url: string | null;
  vcs_branch: string | null;
  vcs_pull_request_url: string | null;
  vcs_commit_url: string | null;
  capabilities: { outcomes: boolean };
  /** Misspelled as in the vendor's reference and clients. */
  capabilitites: { outcomes: boolean };
}

/** `plan_json_api_url` from post-plan on. */
export type TaskPayload = Common & { plan_json_api_url?: string };

type RunFacts = Pick<
  Run,
  | 'id'
  | 'message'
  | 'createdAt'
  | 'organization'
  | 'workspaceId'
  | 'workspaceName'
  | 'workingDirectory'
  | 'configurationVersionId'
  | 'planOnly'
  | 'ingress'
>;

export interface PayloadFacts {
  run: RunFacts;
  result: { id: string; stage: TaskStage; enforcementLevel: EnforcementLevel };
  accessToken: string;
  /** Name of the user. */
  createdBy: string;
  /** Whether the configuration can be downloaded. */
  hasConfiguration: boolean;
  /** URL of this platform, without a trailing slash. */
  baseUrl: string;
}

export const taskPayload = ({ run, result, ...facts }: PayloadFacts): TaskPayload => {
  const api = `${facts.baseUrl}/api/v2`;
  const workspaceUrl = `${facts.baseUrl}/app/${organizationNameOf(run)}/workspaces/${run.workspaceName}`;
  const configurationUrl = `${api}/configuration-versions/${run.configurationVersionId}/download`;
  const planUrl = `${api}/plans/${run.id.replace(/^run-/, 'plan-')}/json-output`;
  const capabilities = { outcomes: true };
  return {
    payload_version: 1,
    access_token: facts.accessToken,
    stage: result.stage,
    is_speculative: run.planOnly,
    task_result_id: result.id,
    task_result_enforcement_level: result.enforcementLevel,
    task_result_callback_url: `${api}/task-results/${result.id}/callback`,
    run_app_url: `${workspaceUrl}/runs/${run.id}`,
    run_id: run.id,
    run_message: run.message,
    run_created_at: run.createdAt,
    run_created_by: facts.createdBy,
    workspace_id: run.workspaceId,
    workspace_name: run.workspaceName,
    workspace_app_url: workspaceUrl,
    workspace_working_directory: run.workingDirectory || null,
    organization_name: organizationNameOf(run),
    configuration_version_id: run.configurationVersionId,
    configuration_version_download_url: facts.hasConfiguration ? configurationUrl : null,
    vcs_repo_url: run.ingress?.cloneUrl ?? null,
    vcs_branch: run.ingress?.branch ?? null,
    vcs_pull_request_url: run.ingress?.pullRequest?.url ?? null,
    vcs_commit_url: run.ingress?.commitUrl ?? null,
    capabilities,
    capabilitites: capabilities,
    ...(result.stage === 'pre_plan' ? {} : { plan_json_api_url: planUrl }),
  };
};

/** Integrations recognize requests that only verify their URL by this token. */
const verificationToken = 'test-token';

/** All fields, with example values. `now` as UTC ISO 8601. */
export const verificationPayload = (organization: string, baseUrl: string, now: string): TaskPayload =>
  taskPayload({
    run: {
      id: 'run-0000000000000000',
      message: 'Verifies that this run task responds',
      createdAt: now,
      organization,
      workspaceId: 'ws-0000000000000000',
      workspaceName: 'verification',
      workingDirectory: '',
      configurationVersionId: 'cv-0000000000000000',
      planOnly: true,
    },
    result: { id: 'taskrs-0000000000000000', stage: 'post_plan', enforcementLevel: 'advisory' },
    accessToken: verificationToken,
    createdBy: 'verification',
    hasConfiguration: true,
    baseUrl,
  });
