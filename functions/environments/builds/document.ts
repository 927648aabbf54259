import type { Run } from '#run/run.ts';
import { uuidOf } from '../host/uuid.ts';
import { jobDocument, jobStatus, matchedProvisioners } from '../jobs.ts';
import { resourceDocument } from '../templates/version-document.ts';
import type { Environment } from '../workspaces/records.ts';
import { type Build, costOf } from './records.ts';

const whileRunning = { start: 'starting', stop: 'stopping', delete: 'deleting' } as const;
const whenDone = { start: 'running', stop: 'stopped', delete: 'deleted' } as const;

/** The environment's status, derived from its latest build. */
export const workspaceStatus = (build: Build, runs: Run[]): string => {
  const status = jobStatus(build, runs);
  if (status === 'running') return whileRunning[build.transition];
  return status === 'succeeded' ? whenDone[build.transition] : status;
};

export const buildResources = (build: Build) =>
  (build.resources ?? []).map((resource, n) =>
    resourceDocument(resource, {
      jobId: build.jobId,
      createdAt: build.completedAt ?? build.createdAt,
      transition: build.transition,
      n,
    }),
  );

export const buildDocument = (build: Build, run: Run | undefined, environment: Environment) => {
  const runs = run ? [run] : [];
  return {
    id: build.id,
    created_at: build.createdAt,
    updated_at: build.updatedAt,
    workspace_id: environment.id,
    workspace_name: environment.name,
    workspace_owner_id: uuidOf(environment.ownerId),
    workspace_owner_name: environment.ownerName,
    workspace_owner_avatar_url: '',
    template_version_id: build.versionId,
    template_version_name: build.versionName,
    template_version_preset_id: build.presetId ?? null,
    build_number: build.number,
    transition: build.transition,
    initiator_id: uuidOf(build.initiatorId),
    initiator_name: build.initiatorName,
    job: jobDocument(build, runs, { type: 'workspace_build', input: { workspace_build_id: build.id } }),
    reason: build.reason,
    resources: buildResources(build),
    deadline: build.deadline ?? null,
    max_deadline: build.maxDeadline ?? null,
    status: workspaceStatus(build, runs),
    daily_cost: costOf(build),
    matched_provisioners: matchedProvisioners(),
    has_ai_task: false,
    has_external_agent: false,
    // Not in Coder's API.
    run_id: build.runIds[0] ?? null,
    restarts: build.restart !== undefined,
  };
};
