import { type Answer, created, json, type Resource } from '#api/answer.ts';
import { notFound } from '#api/errors.ts';
import { byId, inWorkspace } from '#api/finders.ts';
import { includable } from '#api/include.ts';
import { list, pageOf } from '#api/pagination.ts';
import { type Context, type Finder, type Route, route, type Subject } from '#api/route.ts';
import { requiredIn } from '#api/validation.ts';
import { cancelHiddenRun, forceCancelHiddenRun } from '#features/hidden-runs/answers.ts';
import { configurationVersionDocument } from '#resources/configurations/document.ts';
import { getConfigurationVersion } from '#resources/configurations/records.ts';
import { linkToArtifact } from '#resources/runs/plan-links.ts';
import { userDocument } from '#resources/users/user-document.ts';
import { getUser } from '#resources/users/users.ts';
import { workspace } from '#resources/workspaces/finder.ts';
import { getWorkspace, type Workspace } from '#resources/workspaces/records.ts';
import { type QueryRun, queryRunDocument, queryRunId } from './document.ts';
import { readNewQuery } from './input.ts';
import { createQueryRun, getQueryRun, listQueryRuns } from './records.ts';

/** Runs of `terraform query` (HCP API: query runs). */

const include = includable('created_by', 'configuration_version');

const queryRun = byId({ what: 'query run', parameter: 'query', get: getQueryRun, ...inWorkspace });

/** The workspace of a new query, named in the body. */
const workspaceOfNewQuery: Finder<Workspace> = {
  ...workspace,
  parameter: 'workspace',
  find: async (request) => getWorkspace(requiredIn(request, 'workspace', 'workspaces')),
};

const included = async ({ request }: Context<Subject>, runs: QueryRun[]): Promise<Resource[] | undefined> => {
  const includes = include.of(request);
  if (includes.size === 0) return undefined;
  const readIncluded = async <T>(
    of: 'created_by' | 'configuration_version',
    ids: string[],
    read: (id: string) => Promise<T>,
  ) => (includes.has(of) ? Promise.all([...new Set(ids)].map((id) => read(id))) : []);
  const [users, versions] = await Promise.all([
    readIncluded(
      'created_by',
      runs.map(({ createdBy }) => createdBy),
      getUser,
    ),
    readIncluded(
      'configuration_version',
      runs.map(({ configurationVersionId }) => configurationVersionId),
      getConfigurationVersion,
    ),
  ]);
  return [
    ...users.flatMap((user) => (user ? [userDocument(user)] : [])),
    ...versions.flatMap((version) => (version ? [configurationVersionDocument(version)] : [])),
  ];
};

const create = async ({ request, subject, principal }: Context<Workspace>): Promise<Answer> => {
  const input = await readNewQuery(request, subject);
  return created(queryRunDocument(await createQueryRun(subject, input, principal.userId), request.baseUrl));
};

const single = async (context: Context<QueryRun>): Promise<Answer> => {
  const { request, subject } = context;
  const more = await included(context, [subject]);
  return json(200, { data: queryRunDocument(subject, request.baseUrl), ...(more ? { included: more } : {}) });
};

const listAll = async (context: Context<Workspace>): Promise<Answer> => {
  const { request, subject } = context;
  const page = pageOf(request);
  const { items, total } = await listQueryRuns(subject.id, page);
  const documents = items.map((query) => queryRunDocument(query, request.baseUrl));
  return list(request, page, total, documents, await included(context, items));
};

const nameOf = ({ id }: QueryRun): string => `Query run ${queryRunId(id)}`;

const cancel = ({ subject, principal }: Context<QueryRun>): Promise<Answer> =>
  cancelHiddenRun(subject, principal.userId, nameOf(subject));

const forceCancel = ({ subject, principal }: Context<QueryRun>): Promise<Answer> =>
  forceCancelHiddenRun(subject, principal.userId, nameOf(subject));

/** Not in HCP's API: the configuration that the query generated for the resources it found. */
const generated = async ({ subject }: Context<QueryRun>): Promise<Answer> => {
  if (subject.plan.report?.generatedConfiguration) return linkToArtifact(subject, 'generated-configuration');
  throw notFound(`${nameOf(subject)} has generated no configuration.`);
};

const path = '/queries/{query}';

export const queryRoutes: Route[] = [
  route('POST', '/queries', 'run:plan', workspaceOfNewQuery, create),
  route('GET', '/workspaces/{workspace}/queries', 'run:read', workspace, listAll, { include }),
  route('GET', path, 'run:read', queryRun, single, { include }),
  route('GET', `${path}/generated-configuration`, 'run:read', queryRun, generated),
  route('POST', `${path}/actions/cancel`, 'run:plan', queryRun, cancel),
  route('POST', `${path}/actions/force-cancel`, 'run:force-cancel', queryRun, forceCancel),
];
