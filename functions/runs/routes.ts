import { type Answer, created, ok, type Resource } from '../api/answer.ts';
import { badRequest, forbidden } from '../api/errors.ts';
import { includes } from '../api/include.ts';
import { list, listWithoutTotal, pageOf, totalOf, wholeList } from '../api/pagination.ts';
import type { Granted } from '../api/permissions/granted.ts';
import { type Context, type Finder, type Route, route, type Subject } from '../api/route.ts';
import { configurationVersionDocument, ingressDocuments } from '../configurations/document.ts';
import { getConfigurationVersion } from '../configurations/records.ts';
import { costEstimateDocument } from '../costs/document.ts';
import { queueRun } from '../orchestration/create-run.ts';
import { readNewRun, workspaceOfNewRun } from '../orchestration/new-run-input.ts';
import { capacityDocument } from '../organizations/document.ts';
import { userDocument } from '../people/accounts/user-document.ts';
import { getUser } from '../people/accounts/users.ts';
import { type InOrganization, organization } from '../people/organizations/finder.ts';
import { getOrganization } from '../people/organizations/records.ts';
import { waitsForPerson } from '../run/actions.ts';
import type { Run } from '../run/run.ts';
import { stagesOf } from '../run/task-stages.ts';
import { taskStageDocument } from '../run-tasks/stage-document.ts';
import { workspaceDocument } from '../workspaces/document.ts';
import { workspace } from '../workspaces/finder.ts';
import { getWorkspace, type Workspace } from '../workspaces/records.ts';
import { applyDocument, planDocument, runDocument } from './document.ts';
import { readRunFilter } from './filter.ts';
import { run } from './finder.ts';
import { findOrganizationRuns, findRuns, listAppliableRuns, listOpenRuns, type RunPointer } from './lists.ts';

const knownIncludes = [
  'plan',
  'apply',
  'created_by',
  'cost_estimate',
  'configuration_version',
  'configuration_version.ingress_attributes',
  'workspace',
  'task_stages',
  'tf_policy_evaluations',
] as const;

const create = async ({ request, subject, granted, principal }: Context<Workspace>): Promise<Answer> => {
  const { userId } = principal;
  const { id, ...wanted } = await readNewRun(request, subject);
  if (
    wanted.options.isDestroy &&
    !wanted.options.planOnly &&
    !wanted.version.speculative &&
    !granted.has('run:apply')
  ) {
    throw forbidden(
      'is-destroy: only who may apply runs here can queue a destroy run (can-queue-destroy); with plan-only, the permission run:plan is enough.',
    );
  }
  // The run that a configuration was uploaded for is its uploader's to create.
  const own = wanted.version.createdBy === userId ? { id } : {};
  const made = await queueRun({ ...wanted, ...own, workspace: subject, createdBy: userId, granted });
  return created(runDocument(made, { granted, userId }));
};

/** What is asked to come along; a run in `data` is never in `included` too, which would be a cycle. */
const related = async (
  { request }: Context<Subject>,
  runs: Run[],
  granted: (workspaceId: string) => Granted,
): Promise<Resource[] | undefined> => {
  const include = includes(request, knownIncludes);
  if (include.size === 0) return undefined;
  const some = async <T>(wanted: boolean, ids: string[], read: (id: string) => Promise<T | undefined>) =>
    wanted ? (await Promise.all([...new Set(ids)].map(read))).filter((record) => record !== undefined) : [];
  const versionIds = runs.map((one) => one.configurationVersionId);
  const [workspaces, versions, users] = await Promise.all([
    some(
      include.has('workspace'),
      runs.map((one) => one.workspaceId),
      getWorkspace,
    ),
    some(include.has('configuration_version'), versionIds, getConfigurationVersion),
    some(
      include.has('created_by'),
      runs.map((one) => one.createdBy),
      getUser,
    ),
  ]);
  return [
    ...(include.has('plan') ? runs.map((one) => planDocument(one, request.baseUrl)) : []),
    ...(include.has('apply') ? runs.map((one) => applyDocument(one, request.baseUrl)) : []),
    ...(include.has('cost_estimate') ? runs.flatMap((one) => costEstimateDocument(one) ?? []) : []),
    ...workspaces.map((one) => workspaceDocument(one, granted(one.id))),
    ...versions.map((one) => configurationVersionDocument(one)),
    ...(include.has('configuration_version.ingress_attributes') ? ingressOf(runs) : []),
    ...users.map(userDocument),
    ...(include.has('task_stages')
      ? runs.flatMap((one) =>
          stagesOf(one).map((stage) => taskStageDocument(one, stage, { granted: granted(one.workspaceId) })),
        )
      : []),
  ];
};

/** Runs know it themselves; several may be of one configuration. */
const ingressOf = (runs: Run[]): Resource[] => {
  const versions = runs.map((one) => ({ id: one.configurationVersionId, ingress: one.ingress }));
  return ingressDocuments([...new Map(versions.map((version) => [version.id, version])).values()]);
};

const read = async (context: Context<Run>): Promise<Answer> => {
  const { subject, granted, principal } = context;
  return ok(
    runDocument(subject, { granted, userId: principal.userId }),
    await related(context, [subject], () => granted),
  );
};

const listOfWorkspace = async (context: Context<Workspace>): Promise<Answer> => {
  const { request, subject, granted, principal } = context;
  const page = pageOf(request);
  const filter = await readRunFilter(request, subject.organization);
  const { items, total, more } = filter.plain
    ? await listAppliableRuns(subject, page)
    : await findRuns(subject, filter, page);
  const data = items.map((one) => runDocument(one, { granted, userId: principal.userId }));
  return list(request, page, totalOf(page, total, more), data, await related(context, items, () => granted));
};

const visibleTo =
  ({ principal, subject }: Context<InOrganization>) =>
  (pointers: RunPointer[]) =>
    principal.visible(subject.organization, pointers);

const grantedFor = ({ principal, subject }: Context<InOrganization>, runs: Run[]) =>
  principal.onWorkspaces(
    subject.organization,
    runs.map(({ workspaceId }) => workspaceId),
  );

const listOfOrganization = async (context: Context<InOrganization>): Promise<Answer> => {
  const { request, subject, principal } = context;
  const page = pageOf(request);
  if (await principal.reachesNothing(subject.organization)) return listWithoutTotal(request, page, false, []);
  const filter = { ...(await readRunFilter(request, subject.organization)), visible: visibleTo(context) };
  const { items, more } = await findOrganizationRuns(subject.organization, filter, page);
  const granted = await grantedFor(context, items);
  const data = items.map((one) => runDocument(one, { granted: granted(one.workspaceId), userId: principal.userId }));
  return listWithoutTotal(request, page, more, data, await related(context, items, granted));
};

/** `GET /runs` names what it is about in its query. */
const namedInQuery: Finder<Workspace | InOrganization> = {
  what: 'workspace or organization',
  find: async ({ query }) => {
    const workspaceId = query.get('workspace_id');
    if (workspaceId) return getWorkspace(workspaceId.slice(0, 100));
    const name = query.get('organization_name');
    if (!name) throw badRequest('workspace_id or organization_name is required.');
    const record = await getOrganization(name.slice(0, 100));
    return record && { organization: record.name, record };
  },
  seen: (subject) => ('record' in subject ? 'organization:read' : 'run:read'),
  scope: (subject) =>
    'record' in subject ? organization.scope(subject) : { organization: subject.organization, workspace: subject },
};

const listNamed = (context: Context<Workspace | InOrganization>): Promise<Answer> => {
  const { subject } = context;
  return 'record' in subject ? listOfOrganization({ ...context, subject }) : listOfWorkspace({ ...context, subject });
};

/** Not those that wait for a person: nobody waits for them. Runs wait for their workspace, never for the organization. */
const waiting = async (context: Context<InOrganization>): Promise<Run[]> =>
  (await listOpenRuns(context.subject.organization, visibleTo(context))).filter((one) => !waitsForPerson(one));

const queue = async (context: Context<InOrganization>): Promise<Answer> => {
  const { request, principal } = context;
  const runs = await waiting(context);
  const granted = await grantedFor(context, runs);
  return wholeList(
    request,
    runs.map((one) => runDocument(one, { granted: granted(one.workspaceId), userId: principal.userId })),
  );
};

const capacity = async (context: Context<InOrganization>): Promise<Answer> => {
  const { subject } = context;
  const runs = await waiting(context);
  const pending = runs.filter(({ status }) => status === 'pending').length;
  return ok(capacityDocument(subject.record, { pending, running: runs.length - pending }));
};

export const runRoutes: Route[] = [
  route('POST', '/runs', 'run:plan', workspaceOfNewRun, create),
  route('GET', '/runs', 'organization:read', namedInQuery, listNamed),
  route('GET', '/runs/{run}', 'run:read', run, read),
  route('GET', '/workspaces/{workspace}/runs', 'run:read', workspace, listOfWorkspace),
  route('GET', '/organizations/{organization}/runs', 'organization:read', organization, listOfOrganization),
  route('GET', '/organizations/{organization}/runs/queue', 'organization:read', organization, queue),
  route('GET', '/organizations/{organization}/capacity', 'organization:read', organization, capacity),
];
