import * as v from 'valibot';
import { dueAttributes, dueIn } from '../../store/due.ts';
import { update } from '../../store/table.ts';
import { getWorkspace } from '../../workspaces/records.ts';
import { isOwner } from '../access.ts';
import { bytes, noContent, ok } from '../host/answers.ts';
import { pageIn, readBody } from '../host/body.ts';
import { CoderError, forbidden, notFound } from '../host/errors.ts';
import { type AuditedAction, audited, type Call, type Route, refused, route } from '../host/route.ts';
import { newUuid } from '../host/uuid.ts';
import { jobStatus } from '../jobs.ts';
import { keys } from '../keys.ts';
import { answerLog } from '../logs/routes.ts';
import { canceled, cancelRuns, checkCancelable, checkExpected } from '../templates/version-routes.ts';
import { buildById, byName, type Found, livingById, templateOf } from '../workspaces/finder.ts';
import { buildDocument, buildResources } from './document.ts';
import { maxBuildBytes, postBuild } from './new-build.ts';
import { type Build, findBuild, listBuilds, setBuild } from './records.ts';
import { settleBuild } from './settle.ts';
import { checkState, putState, readBuildState } from './state.ts';

const read = async (call: Call) => {
  const { environment, build: known } = await buildById(call);
  const { build, run } = await settleBuild(known);
  return ok(buildDocument(build, run, environment));
};

const list = async (call: Call) => {
  const { environment } = await livingById(call);
  const { limit, offset } = pageIn(call.request);
  const since = call.request.query.get('since');
  if (since && Number.isNaN(Date.parse(since))) {
    throw new CoderError(400, 'Query parameters have invalid values.', undefined, [
      { field: 'since', detail: 'Query param "since" must be a valid date format (RFC3339)' },
    ]);
  }
  const all = await listBuilds(environment.id, Math.min(limit + offset, 1000));
  const after = call.request.query.get('after_id');
  const from = after ? all.findIndex(({ id }) => id === after) + 1 : 0;
  const found = all.slice(from).filter(({ createdAt }) => !since || createdAt > since);
  const settled = await Promise.all(found.slice(offset, offset + limit).map(settleBuild));
  return ok(settled.map(({ build, run }) => buildDocument(build, run, environment)));
};

const byNumber = async (call: Call) => {
  const { environment } = await byName(call);
  const n = Number(call.request.params.number);
  if (!Number.isSafeInteger(n) || n < 1) {
    throw new CoderError(400, 'Failed to parse build number as integer.');
  }
  const known = await findBuild(environment.id, n);
  if (!known) throw notFound();
  const { build, run } = await settleBuild(known);
  return ok(buildDocument(build, run, environment));
};

const deedOf = (action: string, { id }: Build): AuditedAction => ({ type: 'workspace_build', action, id });

/** Whoever may not interrupt a build may still take back one that has not begun. */
const mayCancel = async (call: Call, { environment, rights }: Found, status: string): Promise<boolean> => {
  if (status === 'pending' || rights.manage) return true;
  if ((await templateOf(environment)).allowUserCancelWorkspaceJobs) return true;
  return isOwner(call.principal, environment.organization);
};

const cancel = async (call: Call) => {
  const found = await buildById(call);
  const { organization } = found.environment;
  const { build, run } = await settleBuild(found.build);
  const runs = run ? [run] : [];
  const status = jobStatus(build, runs);
  if (!found.mayChange) throw await refused(call, organization, deedOf('cancel', build), forbidden());
  if (!(await mayCancel(call, found, status))) {
    const error = forbidden('User is not allowed to cancel workspace builds. Owner role is required.');
    throw await refused(call, organization, deedOf('cancel', build), error);
  }
  checkCancelable(status);
  checkExpected(call, status);
  if (!run) throw new CoderError(409, 'The build is just being started. Try again.');
  return audited(call, organization, deedOf('cancel', build), async () => {
    await cancelRuns(runs, call.principal.userId);
    return ok(canceled);
  });
};

const isLatest = ({ environment, build }: Found & { build: Build }): boolean => environment.latestBuildId === build.id;

/** States have secrets: they are for whoever manages templates. Reading one is recorded. */
const state = async (call: Call) => {
  const found = await buildById(call);
  const { environment, rights, build } = found;
  if (!rights.manage) throw await refused(call, environment.organization, deedOf('pull_state', build), notFound());
  const { build: settled } = await settleBuild(build);
  const current = isLatest(found) && settled.completedAt ? await getWorkspace(environment.workspaceId) : undefined;
  return audited(call, environment.organization, deedOf('pull_state', build), async () =>
    bytes(await readBuildState(settled, current), 'application/json'),
  );
};

const replaceState = async (call: Call) => {
  const found = await buildById(call);
  const { environment, rights } = found;
  const deed = deedOf('put_state', found.build);
  if (!rights.manage) throw await refused(call, environment.organization, deed, notFound());
  const { state: text } = readBody(call.request, v.object({ state: v.pipe(v.string(), v.base64()) }));
  const given = Buffer.from(text, 'base64');
  checkState(given);
  const { build } = await settleBuild(found.build);
  if (!build.completedAt) throw new CoderError(409, 'A workspace build is already active.');
  if (!isLatest(found)) throw new CoderError(409, 'Only the state of the latest build can be replaced.');
  if (environment.deletedAt) throw new CoderError(409, 'The workspace was deleted.');
  return audited(call, environment.organization, deed, async () => {
    const holder = `state ${newUuid()}`;
    if (!(await holdForState(environment.id, build.id, holder)))
      throw new CoderError(409, 'A workspace build is already active.');
    try {
      const id = await putState(environment.workspaceId, call.principal.userId, given);
      await setBuild(build.id, { stateVersionId: id });
    } finally {
      await release(environment.id, holder);
    }
    return noContent();
  });
};

/** As if a build went on: none can begin in between. Repeated by the SDK when the answer is lost. */
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

const settledById = async (call: Call): Promise<Build> => (await settleBuild((await buildById(call)).build)).build;

export const buildRoutes: Route[] = [
  route('POST', '/workspaces/{workspace}/builds', postBuild, { maxBytes: maxBuildBytes }),
  route('GET', '/workspaces/{workspace}/builds', list),
  route('GET', '/users/{user}/workspace/{name}/builds/{number}', byNumber),
  route('GET', '/workspacebuilds/{build}', read),
  route('GET', '/workspacebuilds/{build}/logs', async (call) =>
    answerLog(call, 'build', (await buildById(call)).build.id),
  ),
  route('GET', '/workspacebuilds/{build}/parameters', async (call) => ok((await buildById(call)).build.parameters)),
  route('GET', '/workspacebuilds/{build}/resources', async (call) => {
    const build = await settledById(call);
    if (!build.completedAt) throw new CoderError(400, "Job hasn't completed!");
    return ok(buildResources(build));
  }),
  route('PATCH', '/workspacebuilds/{build}/cancel', cancel),
  route('GET', '/workspacebuilds/{build}/state', state),
  route('PUT', '/workspacebuilds/{build}/state', replaceState, { maxBytes: maxBuildBytes }),
];
