import { ok } from '../host/answers.ts';
import { pageIn } from '../host/body.ts';
import { CoderError, invalidQuery, notFound } from '../host/errors.ts';
import { type Call, type Route, route } from '../host/route.ts';
import { logOfBuild } from '../logs/build-log.ts';
import { answerLog, logParameters } from '../logs/routes.ts';
import { buildById, byId, byName } from '../workspaces/finder.ts';
import { buildDocument, buildResources } from './document.ts';
import { type Build, findBuild, listBuilds } from './records.ts';
import { settleBuild } from './settle.ts';

/** Reading builds; build-routes.ts starts and cancels them. */

const read = async (call: Call) => {
  const { environment, build: current } = await buildById(call);
  const { build, run } = await settleBuild(current);
  return ok(buildDocument(build, run, environment));
};

const maxBuilds = 1000;

const list = async (call: Call) => {
  const { environment } = await byId(call);
  const { limit, offset } = pageIn(call.request);
  const since = call.request.query.get('since');
  if (since && Number.isNaN(Date.parse(since))) {
    throw invalidQuery({ field: 'since', detail: 'Query param "since" must be a valid date format (RFC3339)' });
  }
  const after = call.request.query.get('after_id');
  const all = await listBuilds(environment.id, after || since ? maxBuilds : Math.min(limit + offset, maxBuilds));
  const last = after ? all.findIndex(({ id }) => id === after) : -1;
  if (after && last < 0) throw invalidQuery({ field: 'after_id', detail: 'is not a build of this workspace' });
  const builds = all.slice(last + 1).filter(({ createdAt }) => !since || Date.parse(createdAt) > Date.parse(since));
  const settled = await Promise.all(builds.slice(offset, offset + limit).map(settleBuild));
  return ok(settled.map(({ build, run }) => buildDocument(build, run, environment)));
};

const byNumber = async (call: Call) => {
  const { environment } = await byName(call);
  const n = Number(call.request.params.number);
  if (!Number.isSafeInteger(n) || n < 1) {
    throw new CoderError(400, 'Failed to parse build number as integer.');
  }
  const numbered = await findBuild(environment.id, n);
  if (!numbered) throw notFound();
  const { build, run } = await settleBuild(numbered);
  return ok(buildDocument(build, run, environment));
};

const settledById = async (call: Call): Promise<Build> => (await settleBuild((await buildById(call)).build)).build;

export const buildRoutes: Route[] = [
  route('GET', '/workspaces/{workspace}/builds', list, {
    query: ['since', 'after_id', 'limit', 'offset', 'include_deleted'],
  }),
  route('GET', '/users/{user}/workspace/{name}/builds/{number}', byNumber),
  route('GET', '/workspacebuilds/{build}', read),
  route(
    'GET',
    '/workspacebuilds/{build}/logs',
    async (call) => answerLog(call, { kind: 'build', jobId: (await buildById(call)).build.id }, logOfBuild),
    { query: logParameters },
  ),
  route('GET', '/workspacebuilds/{build}/parameters', async (call) => ok((await buildById(call)).build.parameters)),
  route('GET', '/workspacebuilds/{build}/resources', async (call) => {
    const build = await settledById(call);
    if (!build.completedAt) throw new CoderError(400, "Job hasn't completed!");
    return ok(buildResources(build));
  }),
];
