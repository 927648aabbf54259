import { type Answer, ok, type Resource } from '#api/answer.ts';
import { badRequest } from '#api/errors.ts';
import { includable } from '#api/include.ts';
import { list, listWithoutTotal, pageOf, totalOf, wholeList } from '#api/pagination.ts';
import type { Granted } from '#api/permissions/granted.ts';
import { flag, type QueryParameters } from '#api/query-parameters.ts';
import { type Context, type Finder, type Route, route, type Subject } from '#api/route.ts';
import { type InOrganization, organization } from '#resources/organizations/finder.ts';
import { lookUpOrganization } from '#resources/organizations/records.ts';
import { workspace } from '#resources/workspaces/finder.ts';
import { getWorkspace, type Workspace } from '#resources/workspaces/records.ts';
import { waitsForPerson } from '#run/actions.ts';
import type { Run } from '#run/run.ts';
import { awaitedSlot } from '#run/slots.ts';
import { capacityDocument, runDocument, runWithEventsDocument } from './document.ts';
import type { RunWithEvents } from './events.ts';
import { runFilter as filter, readRunFilter } from './filter.ts';
import { runWithEvents } from './finder.ts';
import { findOrganizationRuns, findRuns, listAppliableRuns, listOpenRuns, type RunPointer } from './lists.ts';
import { aheadOf } from './slot-waits.ts';

/** Resources that can be included with runs; public-api/includes/runs.ts loads them. */
export const runIncludes = includable(
  'plan',
  'apply',
  'created_by',
  'cost_estimate',
  'configuration_version',
  'configuration_version.ingress_attributes',
  'workspace',
  'task_stages',
  'tf_policy_evaluations',
);

/** Loads the resources of {@link runIncludes} that the request includes. */
export type RelatedToRuns = (
  context: Context<Subject>,
  runs: Run[],
  granted: (workspaceId: string) => Granted,
) => Promise<Resource[] | undefined>;

const read =
  (related: RelatedToRuns) =>
  async (context: Context<RunWithEvents>): Promise<Answer> => {
    const { subject, granted, principal } = context;
    const positions = await aheadOf([subject]);
    return ok(
      runWithEventsDocument(subject, subject.eventIds, { granted, positions, userId: principal.userId }),
      await related(context, [subject], () => granted),
    );
  };

const listOfWorkspace =
  (related: RelatedToRuns) =>
  async (context: Context<Workspace>): Promise<Answer> => {
    const { request, subject, granted, principal } = context;
    const page = pageOf(request);
    const filter = await readRunFilter(request, subject.organization);
    const { items, total, more } = filter.plain
      ? await listAppliableRuns(subject, page)
      : await findRuns(subject, filter, page);
    const data = items.map((run) => runDocument(run, { granted, userId: principal.userId }));
    return list(request, page, totalOf(page, total, more), data, await related(context, items, () => granted));
  };

const visibleTo =
  ({ principal, subject }: Context<InOrganization>) =>
  (pointers: RunPointer[]) =>
    principal.visibleInLiving(subject.organization, pointers);

const grantedFor = ({ principal, subject }: Context<InOrganization>, runs: Run[]) =>
  principal.onWorkspaces(
    subject.organization,
    runs.map(({ workspaceId }) => workspaceId),
  );

const listOfOrganization =
  (related: RelatedToRuns) =>
  async (context: Context<InOrganization>): Promise<Answer> => {
    const { request, subject, principal } = context;
    const page = pageOf(request);
    if (await principal.reachesNothing(subject.organization)) return listWithoutTotal(request, page, false, []);
    const asked = await readRunFilter(request, subject.organization);
    const all = request.query.get('filter[managed]') === 'true';
    const mayFit = (pointer: RunPointer) => (all || !pointer.managed) && asked.mayFit(pointer);
    const filter = { ...asked, mayFit, visible: visibleTo(context) };
    const { items, more } = await findOrganizationRuns(subject.organization, filter, page);
    const granted = await grantedFor(context, items);
    const data = items.map((run) => runDocument(run, { granted: granted(run.workspaceId), userId: principal.userId }));
    return listWithoutTotal(request, page, more, data, await related(context, items, granted));
  };

/** `GET /runs` names its workspace or organization in the query. */
const namedInQuery: Finder<Workspace | InOrganization> = {
  what: 'workspace or organization',
  find: async ({ query }) => {
    const workspaceId = query.get('workspace_id');
    if (workspaceId) return getWorkspace(workspaceId.slice(0, 100));
    const name = query.get('organization_name');
    if (!name) throw badRequest('workspace_id or organization_name is required.');
    const record = await lookUpOrganization(name.slice(0, 100));
    return record && { organization: record.name, record };
  },
  visibleWith: (subject) => ('record' in subject ? 'organization:read' : 'run:read'),
  scope: (subject) =>
    'record' in subject ? organization.scope(subject) : { organization: subject.organization, workspace: subject },
};

const listNamed =
  (related: RelatedToRuns) =>
  (context: Context<Workspace | InOrganization>): Promise<Answer> => {
    const { subject } = context;
    return 'record' in subject
      ? listOfOrganization(related)({ ...context, subject })
      : listOfWorkspace(related)({ ...context, subject });
  };

/** Without runs that wait for a user. */
const waiting = async (context: Context<InOrganization>): Promise<Run[]> =>
  (await listOpenRuns(context.subject.organization, visibleTo(context))).filter((run) => !waitsForPerson(run));

const queue = async (context: Context<InOrganization>): Promise<Answer> => {
  const { request, principal } = context;
  const runs = await waiting(context);
  const [granted, positions] = await Promise.all([grantedFor(context, runs), aheadOf(runs)]);
  return wholeList(
    request,
    runs.map((run) => runDocument(run, { granted: granted(run.workspaceId), positions, userId: principal.userId })),
  );
};

const capacity = async (context: Context<InOrganization>): Promise<Answer> => {
  const { subject } = context;
  const runs = await waiting(context);
  const pending = runs.filter((run) => run.status === 'pending' || awaitedSlot(run)).length;
  return ok(capacityDocument(subject.record, { pending, running: runs.length - pending }));
};

const runFilter: QueryParameters = { ...filter, include: runIncludes };

export const runRoutes = (related: RelatedToRuns): Route[] => [
  route('GET', '/runs', 'organization:read', namedInQuery, listNamed(related), {
    ...runFilter,
    workspace_id: 'text',
    organization_name: 'text',
  }),
  route('GET', '/runs/{run}', 'run:read', runWithEvents, read(related), { include: runIncludes }),
  route('GET', '/workspaces/{workspace}/runs', 'run:read', workspace, listOfWorkspace(related), runFilter),
  route(
    'GET',
    '/organizations/{organization}/runs',
    'organization:read',
    organization,
    listOfOrganization(related),
    // Not in HCP's API: with the runs of environments and templates.
    { ...runFilter, 'filter[managed]': flag },
  ),
  route('GET', '/organizations/{organization}/runs/queue', 'organization:read', organization, queue),
  route('GET', '/organizations/{organization}/capacity', 'organization:read', organization, capacity),
];
