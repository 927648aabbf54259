import { logError, logWarning } from '#platform/store/log.ts';
import { update } from '#platform/store/table.ts';
import { grantsOfUser } from '#resources/teams/access/grants.ts';
import { DrainingError } from '#resources/workspaces/drain.ts';
import { rightsIn } from '../access.ts';
import { begin, build, type NewBuild } from '../builds/create.ts';
import { ParameterError, resolveParameters, type Value } from '../builds/parameters.ts';
import { type Build, dropRestart, getBuild } from '../builds/records.ts';
import { settleBuild } from '../builds/settle.ts';
import { CoderError } from '../host/errors.ts';
import { keys } from '../keys.ts';
import { QuotaError } from '../quotas/check.ts';
import { getAnyTemplate, type Template } from '../templates/records.ts';
import { getFound, getVersion, type Version } from '../templates/versions.ts';
import { type Action, dueActions, postpone, reschedule } from './due.ts';
import { type Environment, getEnvironment, updateEnvironment } from './records.ts';
import { nextStart } from './schedule.ts';

/** Carries out the scheduled actions on environments. Each can be repeated. */

const startVersion = async (
  environment: Environment,
  template: Template,
  latest: Build,
): Promise<Version | undefined> => {
  const follows = environment.automaticUpdates === 'always' || template.requireActiveVersion;
  return getVersion(follows ? template.activeVersionId : latest.versionId);
};

/** If a new version does not accept the values, Terraform rejects them, and the owner sees a failed build. */
const parametersFor = async (version: Version, latest: Build): Promise<Value[]> => {
  const { parameters } = await getFound(version.id);
  try {
    return resolveParameters({ parameters, requested: [], previous: latest.parameters });
  } catch (error) {
    if (!(error instanceof ParameterError)) throw error;
    return latest.parameters;
  }
};

const builds: Record<Action, Pick<NewBuild, 'transition' | 'reason'>> = {
  restart: { transition: 'start', reason: 'initiator' },
  autostop: { transition: 'stop', reason: 'autostop' },
  autostart: { transition: 'start', reason: 'autostart' },
  'stop after failure': { transition: 'stop', reason: 'autostop' },
  dormancy: { transition: 'stop', reason: 'dormancy' },
  delete: { transition: 'delete', reason: 'autodelete' },
};

/** Starts again what the latest build stopped, as the user who requested it. */
const restart = async (environment: Environment, template: Template, latest: Build): Promise<void> => {
  const { restart: requested, initiatorId: id, initiatorName: username } = latest;
  const version = requested && (await getVersion(requested.versionId));
  if (!version) return dropRestart(latest.id, 'the template version was deleted.');
  if (!(await rightsIn(grantsOfUser(id), environment)).create) {
    return dropRestart(latest.id, `${username} may no longer plan runs in its project.`);
  }
  await build(environment, { ...builds.restart, ...requested, template, version, initiator: { id, username } });
};

const act = async (environment: Environment, template: Template, latest: Build, action: Action): Promise<void> => {
  if (action === 'restart') return restart(environment, template, latest);
  const starts = action === 'autostart';
  if (starts && !(await rightsIn(grantsOfUser(environment.ownerId), environment)).create) {
    return reschedule(environment, template, latest, nextStart(environment, template, Date.now()));
  }
  const dormantAt = new Date().toISOString();
  if (action === 'dormancy' && latest.transition !== 'start') {
    const sleeping = await updateEnvironment(environment.id, { dormantAt });
    return sleeping ? reschedule(sleeping, template, latest) : undefined;
  }
  const version = starts ? await startVersion(environment, template, latest) : await getVersion(latest.versionId);
  if (!version) throw new Error(`environment ${environment.id} has no version to build with`);
  await build(environment, {
    ...builds[action],
    template,
    version,
    parameters: starts ? await parametersFor(version, latest) : latest.parameters,
    initiator: { id: environment.ownerId, username: environment.ownerName },
    isScheduled: true,
    // Dormancy is set by the write of the stop build, because a dormant environment is stopped.
    change: { set: { dormantAt: action === 'dormancy' ? dormantAt : undefined } },
  });
};

/** Settles an environment's active build, or releases an abandoned hold. */
const lookAtBuild = async (environment: Environment): Promise<void> => {
  const { id, activeBuildId = '' } = environment;
  const active = await getBuild(activeBuildId);
  if (!active) {
    // The request that held the environment was interrupted.
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
    logWarning('repaired', { repair: 'build started again', item: settled.id });
    await begin(settled, environment);
  }
  await update(keys.environment(id), {
    set: { dueAt: new Date(Date.now() + 60_000).toISOString() },
    condition: 'activeBuildId = :build',
    values: { ':build': activeBuildId },
  });
};

const soonSeconds = 60;
const laterSeconds = 600;

/** Carries out the environment's due action. After an error it is postponed, so that other environments come first. */
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
  const now = Date.now();
  const due = dueActions(environment, template, settled).find(({ at }) => at <= now);
  if (!due) return reschedule(environment, template, settled);
  try {
    await act(environment, template, settled, due.action);
  } catch (error) {
    if (error instanceof QuotaError) {
      logWarning('scheduled start rejected', { environment: environmentId, reason: error.message });
      if (due.action === 'restart') return dropRestart(settled.id, error.message);
      return reschedule(environment, template, settled, nextStart(environment, template, now));
    }
    // Another build is in progress, the workspace is locked, or the platform is drained.
    const isBusy = (error instanceof CoderError && error.status === 409) || error instanceof DrainingError;
    if (!isBusy) logError('scheduled build failed', error, { environment: environmentId, action: due.action });
    await postpone(environmentId, isBusy ? soonSeconds : laterSeconds);
  }
};
