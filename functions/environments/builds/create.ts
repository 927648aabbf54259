import { dueIn } from '#platform/store/due.ts';
import { newId } from '#platform/store/id.ts';
import { type Change, update } from '#platform/store/table.ts';
import { getUser } from '#resources/users/users.ts';
import { checkAdmitted } from '#resources/workspaces/admitted-runs.ts';
import { checkNotDraining } from '#resources/workspaces/drain.ts';
import { getWorkspace } from '#resources/workspaces/records.ts';
import { CoderError } from '../host/errors.ts';
import { newUuid, prebuildsUser } from '../host/uuid.ts';
import { keys } from '../keys.ts';
import { emitBegun } from '../metrics/records.ts';
import { holdQuota } from '../quotas/check.ts';
import { startRun } from '../runs.ts';
import { getAnyTemplate, type Template } from '../templates/records.ts';
import { getVersion, type Version } from '../templates/versions.ts';
import type { Environment } from '../workspaces/records.ts';
import { buildVariables } from './environment-variables.ts';
import type { Value } from './parameters.ts';
import {
  type Build,
  completeBuild,
  createBuild,
  findBuild,
  forgetBuild,
  getBuild,
  numberBuild,
  type Restart,
  type Transition,
} from './records.ts';
import { completeWithoutRun } from './settle.ts';
import { lockedBy, putState } from './state.ts';

/** Creates builds: one conditional write of the environment determines the next build, then its run starts. */

export interface NewBuild {
  transition: Transition;
  template: Template;
  version: Version;
  parameters: Value[];
  presetId?: string | undefined;
  reason: string;
  initiator: { id: string; username: string };
  withoutRun?: 'orphan' | undefined;
  /** Replaces the environment's state. */
  state?: Buffer | undefined;
  /** Terraform's debug log is part of the log. */
  isDebugged?: boolean;
  /** Started on schedule: does not count as use. */
  isScheduled?: boolean;
  prebuild?: Build['prebuild'];
  restart?: Restart | undefined;
  /** The environment's new owner from this build on, if it changes. */
  newOwnerId?: string;
  /** Further changes in the write that claims the environment. */
  change?: Pick<Change, 'set' | 'remove'>;
}

const alreadyActive = () => new CoderError(409, 'A workspace build is already active.');

/** The same build can be started again as long as no other build holds the environment. */
const claimEnvironment = (
  environment: Environment,
  build: Build,
  { isScheduled, change }: NewBuild,
): Promise<Environment | undefined> => {
  const free = 'attribute_not_exists(activeBuildId) AND buildNumber = :before AND attribute_not_exists(deletedAt)';
  return update<Environment>(keys.environment(environment.id), {
    set: {
      activeBuildId: build.id,
      latestBuildId: build.id,
      buildNumber: build.number,
      lastUsedAt: isScheduled ? undefined : build.createdAt,
      updatedAt: build.createdAt,
      ...dueIn(environment.id, 60),
      ...change?.set,
    },
    // A start ends dormancy.
    remove: [...(build.transition === 'start' ? ['dormantAt'] : []), ...(change?.remove ?? [])],
    // The SDK retries a write whose response was lost: the environment may already be claimed for this build.
    condition: `(${free}) OR activeBuildId = :build`,
    values: { ':before': environment.buildNumber, ':build': build.id },
  });
};

const newBuild = (
  environment: Environment,
  request: NewBuild,
  stateVersionId: string | undefined,
  isEmpty: boolean,
): Build => {
  const { transition, version, parameters, presetId, reason, initiator } = request;
  const at = new Date().toISOString();
  const prebuild = request.prebuild ?? (environment.prebuild ? ('pool' as const) : undefined);
  const withoutRun = request.withoutRun ?? (transition === 'delete' && isEmpty ? ('no state' as const) : undefined);
  return {
    id: newUuid(),
    jobId: newUuid(),
    organization: environment.organization,
    environmentId: environment.id,
    number: environment.buildNumber + 1,
    transition,
    reason,
    versionId: version.id,
    versionName: version.name,
    fileId: version.fileId,
    initiatorId: initiator.id,
    initiatorName: initiator.username,
    createdAt: at,
    updatedAt: at,
    parameters,
    presetId,
    prebuild,
    withoutRun,
    isDebugged: request.isDebugged,
    restart: request.restart,
    stateVersionId,
    runIds: withoutRun ? [] : [newId('run')],
  };
};

/**
 * @throws {CoderError} 409 while another build is in progress, or the workspace is locked by a user or for an unsaved
 * state
 * @throws {ApiError} 409 when runs of the organization cannot start, or none can
 */
export const build = async (environment: Environment, request: NewBuild): Promise<Build> => {
  if (environment.activeBuildId) throw alreadyActive();
  const workspace = await getWorkspace(environment.workspaceId);
  const { lock } = workspace ?? {};
  // The lock may be waiting for exactly the state that is being pushed.
  const isLocked = lock?.kind === 'user' || (lock?.unsaved !== undefined && request.state === undefined);
  if (workspace && isLocked && request.withoutRun !== 'orphan') throw await lockedBy(workspace.id);
  const isEmpty = workspace?.state === undefined && request.state === undefined;
  const created = newBuild(environment, request, workspace?.state?.id, isEmpty);
  if (workspace && !created.withoutRun) {
    checkAdmitted(workspace);
    await checkNotDraining();
  }
  if (created.transition === 'start') {
    const { template, version, newOwnerId: ownerId = environment.ownerId } = request;
    await holdQuota({ environment, template, versionId: version.id, ownerId });
  }
  await createBuild(created);
  const claimed = await claimEnvironment(environment, created, request);
  if (!claimed) {
    await forgetBuild(created);
    throw alreadyActive();
  }
  emitBegun(created);
  if (request.state !== undefined) await putGivenState(created, claimed, request.state);
  return begin(created, claimed);
};

const putGivenState = async (build: Build, environment: Environment, state: Buffer): Promise<void> => {
  try {
    await putState(environment.workspaceId, build.initiatorId, state);
  } catch (error) {
    await giveUp(build, environment, `The state could not be stored: ${(error as Error).message}`);
    throw error;
  }
};

/** The build keeps its number, and fails without any change. */
const giveUp = async (build: Build, environment: Environment, error: string): Promise<void> => {
  const at = new Date().toISOString();
  await numberBuild(build);
  await update(keys.environment(environment.id), {
    remove: ['activeBuildId', 'dueShard', 'dueAt'],
    condition: 'activeBuildId = :build',
    values: { ':build': build.id },
  });
  await completeBuild(build.id, { startedAt: at, completedAt: at, error });
};

/** All steps after the claim; can be repeated. */
export const begin = async (build: Build, environment: Environment): Promise<Build> => {
  await numberBuild(build);
  if (build.withoutRun) return completeWithoutRun(build, environment);
  const [runId = ''] = build.runIds;
  const [workspace, template, version, owner, before] = await Promise.all([
    getWorkspace(environment.workspaceId),
    getAnyTemplate(environment.templateId),
    getVersion(build.versionId),
    getUser(environment.ownerId),
    previousOf(build),
  ]);
  if (!workspace || !template || !version) {
    await giveUp(build, environment, 'The workspace or the template version was deleted.');
    return (await getBuild(build.id)) ?? build;
  }
  await startRun({
    id: runId,
    workspace,
    archive: version.archive,
    createdBy: build.initiatorId === prebuildsUser.id ? template.createdBy : build.initiatorId,
    message: `${build.transition}: build ${build.number} of ${environment.ownerName}/${environment.name} with ${template.name} ${version.name}`,
    planOnly: false,
    isDestroy: build.transition === 'delete',
    variables: buildVariables({
      build,
      environment,
      template,
      version,
      owner: { id: environment.ownerId, username: environment.ownerName, email: owner?.email ?? '' },
      previous: before,
    }),
    templateWorkspaceId: template.workspaceId,
    belongsTo: `build ${build.id}`,
    restarts: build.restart && true,
  });
  return build;
};

const previousOf = async ({ environmentId, number }: Build): Promise<Value[]> =>
  (await findBuild(environmentId, number - 1))?.parameters ?? [];
