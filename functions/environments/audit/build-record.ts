import { type AuditEvent, keepEvent, keepFailure } from '#resources/audit/records.ts';
import type { Build } from '../builds/records.ts';
import type { AuditedAction } from '../host/route.ts';
import { uuidOf } from '../host/uuid.ts';
import type { Environment } from '../workspaces/records.ts';

/** In the audit trail. */
export const nameOfEnvironment = ({ name, ownerName }: Pick<Environment, 'name' | 'ownerName'>): string =>
  `${ownerName}/${name}`;

const nameOfBuild = ({ number }: Build, environment: Environment): string =>
  `${nameOfEnvironment(environment)} #${number}`;

/** What a caller does with a build. */
export const onBuild = (
  action: string,
  { build, environment }: { build: Build; environment: Environment },
): AuditedAction => ({ type: 'workspace_build', action, id: build.id, name: nameOfBuild(build, environment) });

/**
 * Records the end of a build and its outcome, because a build without a request, such as a start on schedule, has no
 * other record in the audit trail. Leaves out values of parameters and states. Can be repeated. 1 write, 2 for a
 * failed build.
 */
export const recordEnd = async (build: Build, environment: Environment): Promise<void> => {
  const { name, ownerName, id } = environment;
  const event: AuditEvent = {
    id: uuidOf(`${build.id} ended`),
    at: build.completedAt ?? build.createdAt,
    organization: build.organization,
    actor: build.initiatorId,
    by: 'platform',
    requestId: build.jobId,
    resource: { type: 'workspace_build', id: build.id },
    action: build.transition,
    allowed: true,
    name: nameOfBuild(build, environment),
    meta: {
      workspace_name: name,
      workspace_owner: ownerName,
      workspace_id: id,
      build_number: String(build.number),
      build_reason: build.reason,
      template_version_id: build.versionId,
    },
  };
  await keepEvent(event);
  if (build.error || build.canceledAt) await keepFailure(event, 500);
};
