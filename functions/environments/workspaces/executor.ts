import { grantsOfUser } from '../../access/grants.ts';
import { logError, logWarning } from '../../store/log.ts';
import { update } from '../../store/table.ts';
import { beginAgain, build } from '../builds/create.ts';
import { ParameterError, resolveParameters, type Value } from '../builds/parameters.ts';
import { type Build, getBuild } from '../builds/records.ts';
import { settleBuild } from '../builds/settle.ts';
import { CoderError } from '../host/errors.ts';
import { keys } from '../keys.ts';
import { getAnyTemplate, type Template } from '../templates/records.ts';
import { getFound, getVersion, type Version } from '../templates/versions.ts';
import { nextDue, reschedule } from './due.ts';
import { type Environment, getEnvironment } from './records.ts';

/** What the platform does by itself with an environment whose time has come. Each look may be repeated. */

/** Whether its owner may still have environments where it is. */
const isOwnerActive = async ({ ownerId, organization, projectId }: Environment): Promise<boolean> => {
  const granted = await grantsOfUser(ownerId).on({ organization, project: projectId, isDefaultProject: true });
  return granted.has('project:read') && granted.has('run:plan');
};

const versionFor = async (
  environment: Environment,
  template: Template,
  latest: Build,
): Promise<Version | undefined> => {
  const follows = environment.automaticUpdates === 'always' || template.requireActiveVersion;
  return getVersion(follows ? template.activeVersionId : latest.versionId);
};

/** Values that a new version does not take are for Terraform to refuse: the owner sees a failed build. */
const parametersFor = async (version: Version, latest: Build): Promise<Value[]> => {
  const { parameters } = await getFound(version.id);
  try {
    return resolveParameters({ parameters, requested: [], previous: latest.parameters });
  } catch (error) {
    if (!(error instanceof ParameterError)) throw error;
    return latest.parameters;
  }
};

const act = async (environment: Environment, template: Template, latest: Build): Promise<void> => {
  const transition = latest.transition === 'start' ? ('stop' as const) : ('start' as const);
  if (transition === 'start' && !(await isOwnerActive(environment))) {
    return reschedule({ ...environment, autostartSchedule: undefined }, template, latest);
  }
  const version =
    transition === 'start' ? await versionFor(environment, template, latest) : await getVersion(latest.versionId);
  if (!version) throw new Error(`environment ${environment.id} has no version to build with`);
  await build(environment, {
    transition,
    version,
    parameters: transition === 'start' ? await parametersFor(version, latest) : latest.parameters,
    reason: transition === 'start' ? 'autostart' : 'autostop',
    initiator: { id: environment.ownerId, username: environment.ownerName },
  });
};

/** A build that goes on, or seems to. */
const lookAtBuild = async (environment: Environment): Promise<void> => {
  const { id, activeBuildId = '' } = environment;
  const active = await getBuild(activeBuildId);
  if (!active) {
    // Whoever held it for a moment is gone.
    await update(keys.environment(id), {
      remove: ['activeBuildId', 'dueShard', 'dueAt'],
      condition: 'activeBuildId = :held',
      values: { ':held': activeBuildId },
    });
    return;
  }
  const { build: settled, run } = await settleBuild(active);
  if (settled.completedAt) return;
  if (!run) {
    logWarning('repaired', { repair: 'build begun', item: settled.id });
    await beginAgain(id);
  }
  await update(keys.environment(id), {
    set: { dueAt: new Date(Date.now() + 60_000).toISOString() },
    condition: 'activeBuildId = :build',
    values: { ':build': activeBuildId },
  });
};

export const lookAt = async (environmentId: string): Promise<void> => {
  const environment = await getEnvironment(environmentId);
  if (!environment) return;
  if (environment.activeBuildId) return lookAtBuild(environment);
  const [template, latest] = await Promise.all([
    getAnyTemplate(environment.templateId),
    getBuild(environment.latestBuildId),
  ]);
  if (!template || !latest) return;
  const { build: settled } = await settleBuild(latest);
  const due = nextDue(environment, template, settled);
  if (due === undefined || due > Date.now()) return reschedule(environment, template, settled);
  try {
    await act(environment, template, settled);
  } catch (error) {
    // Somebody else builds, or holds the workspace: the next look decides anew.
    if (error instanceof CoderError && error.status === 409) return;
    logError('scheduled build failed', error, { environment: environmentId });
    throw error;
  }
};
