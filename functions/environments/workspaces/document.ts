import { nameOf } from '#api/naming.ts';
import type { Run } from '#run/run.ts';
import { buildDocument } from '../builds/document.ts';
import type { Build } from '../builds/records.ts';
import { uuidOf } from '../host/uuid.ts';
import type { Template } from '../templates/records.ts';
import type { Environment } from './records.ts';
import { deletingAt, nextStart } from './schedule.ts';

export interface Latest {
  build: Build;
  run: Run | undefined;
}

export const environmentDocument = (
  environment: Environment,
  template: Template,
  { build, run }: Latest,
  { isFavorite }: { isFavorite: boolean },
) => {
  const next = environment.dormantAt ? undefined : nextStart(environment, template, Date.now());
  const deleting = deletingAt(environment, template);
  return {
    id: environment.id,
    created_at: environment.createdAt,
    updated_at: environment.updatedAt,
    owner_id: uuidOf(environment.ownerId),
    owner_name: environment.ownerName,
    owner_avatar_url: '',
    organization_id: uuidOf(environment.organization),
    organization_name: nameOf(environment.organization),
    template_id: template.id,
    template_name: template.name,
    template_display_name: template.displayName,
    template_icon: template.icon,
    template_allow_user_cancel_workspace_jobs: template.allowUserCancelWorkspaceJobs,
    template_active_version_id: template.activeVersionId,
    template_require_active_version: template.requireActiveVersion,
    template_use_classic_parameter_flow: true,
    latest_build: buildDocument(build, run, environment),
    latest_app_status: null,
    outdated: build.versionId !== template.activeVersionId,
    name: environment.name,
    autostart_schedule: environment.autostartSchedule ?? null,
    ttl_ms: environment.ttlMs ?? null,
    last_used_at: environment.lastUsedAt,
    deleting_at: deleting === undefined ? null : new Date(deleting).toISOString(),
    dormant_at: environment.dormantAt ?? null,
    health: { healthy: true, failing_agents: [] },
    automatic_updates: environment.automaticUpdates,
    allow_renames: true,
    favorite: isFavorite,
    next_start_at: next === undefined ? null : new Date(next).toISOString(),
    is_prebuild: environment.prebuild !== undefined,
  };
};
