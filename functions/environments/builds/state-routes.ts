import * as v from 'valibot';
import { dueAttributes, dueIn } from '#platform/store/due.ts';
import { update } from '#platform/store/table.ts';
import { getWorkspace } from '#resources/workspaces/records.ts';
import { onBuild } from '../audit/build-record.ts';
import { bytes, noContent } from '../host/answers.ts';
import { readBody } from '../host/body.ts';
import { CoderError, notFound } from '../host/errors.ts';
import { audited, type Call, type Route, refused, route } from '../host/route.ts';
import { newUuid } from '../host/uuid.ts';
import { keys } from '../keys.ts';
import { buildById, type Found } from '../workspaces/finder.ts';
import { maxBuildBytes } from './new-build.ts';
import { type Build, setBuild } from './records.ts';
import { settleBuild } from './settle.ts';
import { checkState, putState, readBuildState } from './state.ts';

/** States of builds: `coder state pull` and `coder state push`. */

const isLatest = ({ environment, build }: Found & { build: Build }): boolean => environment.latestBuildId === build.id;

/** States contain secrets: reading one requires the right to manage templates, and is recorded. */
const state = async (call: Call) => {
  const target = await buildById(call);
  const { environment, rights, build } = target;
  if (!rights.manage) throw await refused(call, environment.organization, onBuild('pull_state', target), notFound());
  const { build: settled } = await settleBuild(build);
  const current = isLatest(target) && settled.completedAt ? await getWorkspace(environment.workspaceId) : undefined;
  return audited(call, environment.organization, onBuild('pull_state', target), async () =>
    bytes(await readBuildState(settled, current), 'application/json'),
  );
};

const replaceState = async (call: Call) => {
  const target = await buildById(call);
  const { environment, rights } = target;
  const auditAction = onBuild('put_state', target);
  if (!rights.manage) throw await refused(call, environment.organization, auditAction, notFound());
  const { state: text } = readBody(call.request, v.object({ state: v.pipe(v.string(), v.base64()) }));
  const state = Buffer.from(text, 'base64');
  checkState(state);
  const { build } = await settleBuild(target.build);
  if (!build.completedAt) throw new CoderError(409, 'A workspace build is already active.');
  if (!isLatest(target)) throw new CoderError(409, 'Only the state of the latest build can be replaced.');
  if (environment.deletedAt) throw new CoderError(409, 'The workspace was deleted.');
  return audited(call, environment.organization, auditAction, async () => {
    const holder = `state ${newUuid()}`;
    if (!(await holdForState(environment.id, build.id, holder)))
      throw new CoderError(409, 'A workspace build is already active.');
    try {
      const id = await putState(environment.workspaceId, call.principal.userId, state);
      await setBuild(build.id, { stateVersionId: id });
    } finally {
      await release(environment.id, holder);
    }
    return noContent();
  });
};

/**
 * Holds the environment like a build, so that no build starts in between. The SDK retries the write when its response
 * is lost.
 */
const holdForState = (environmentId: string, buildId: string, holder: string) => {
  const isFree = 'attribute_not_exists(activeBuildId) AND attribute_not_exists(deletedAt) AND latestBuildId = :build';
  return update(keys.environment(environmentId), {
    set: { activeBuildId: holder, ...dueIn(environmentId, 60) },
    condition: `(${isFree}) OR activeBuildId = :holder`,
    values: { ':build': buildId, ':holder': holder },
  });
};

const release = (environmentId: string, holder: string) =>
  update(keys.environment(environmentId), {
    remove: ['activeBuildId', ...dueAttributes],
    condition: 'activeBuildId = :held',
    values: { ':held': holder },
  });

export const buildStateRoutes: Route[] = [
  route('GET', '/workspacebuilds/{build}/state', state),
  route('PUT', '/workspacebuilds/{build}/state', replaceState, { maxBytes: maxBuildBytes }),
];
