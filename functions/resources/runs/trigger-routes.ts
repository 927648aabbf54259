import { type Answer, created, ok, one, type Resource } from '#api/answer.ts';
import { badRequest, unprocessable } from '#api/errors.ts';
import { includable } from '#api/include.ts';
import { nameOf } from '#api/naming.ts';
import { list, pageOf, pageSlice } from '#api/pagination.ts';
import { type Context, noContentAfter, type Route, route, type Subject } from '#api/route.ts';
import { readData, requiredIn, toOne } from '#api/validation.ts';
import { workspaceDocuments } from '#resources/workspaces/document.ts';
import { workspace } from '#resources/workspaces/finder.ts';
import { checkUnmanaged } from '#resources/workspaces/managed.ts';
import { getWorkspace, getWorkspaces, type Workspace } from '#resources/workspaces/records.ts';
import { runTrigger } from './finder.ts';
import {
  createRunTrigger,
  deleteRunTrigger,
  listRunTriggers,
  maxSources,
  maxTargets,
  type Refusal,
  type RunTrigger,
} from './triggers.ts';

/** Run triggers (HCP API: run triggers). */

type Names = Map<string, Workspace>;

export const runTriggerDocument = (trigger: RunTrigger, workspaces: Names) => ({
  id: trigger.id,
  type: 'run-triggers',
  attributes: {
    'workspace-name': workspaces.get(trigger.workspaceId)?.name ?? '',
    'sourceable-name': workspaces.get(trigger.sourceableId)?.name ?? '',
    'created-at': trigger.createdAt,
  },
  relationships: {
    workspace: one('workspaces', trigger.workspaceId),
    sourceable: one('workspaces', trigger.sourceableId),
  },
  links: { self: `/api/v2/run-triggers/${trigger.id}` },
});

/** Names of the workspaces that the caller may see. */
const namesOf = async ({ principal, subject }: Context<Subject>, triggers: RunTrigger[]): Promise<Names> => {
  const ids = triggers.flatMap(({ workspaceId, sourceableId }) => [workspaceId, sourceableId]);
  const workspaces = (await getWorkspaces([...new Set(ids)])).map((workspace) => ({
    workspaceId: workspace.id,
    one: workspace,
  }));
  return new Map(
    (await principal.visible(subject.organization, workspaces)).map(({ one: workspace }) => [workspace.id, workspace]),
  );
};

const include = includable('workspace', 'sourceable');

const related = async (
  { request, principal }: Context<Subject>,
  triggers: RunTrigger[],
  names: Names,
): Promise<Resource[] | undefined> => {
  const includes = include.of(request);
  if (includes.size === 0) return undefined;
  const ids = triggers.flatMap(({ workspaceId, sourceableId }) => [
    ...(includes.has('workspace') ? [workspaceId] : []),
    ...(includes.has('sourceable') ? [sourceableId] : []),
  ]);
  return workspaceDocuments(
    principal,
    [...new Set(ids)].flatMap((id) => names.get(id) ?? []),
  );
};

const pointer = '/data/relationships/sourceable';

const refusals: Record<Refusal, (source: Workspace, target: Workspace) => string> = {
  exists: (source, target) => `sourceable: applies in ${source.name} already queue runs in ${target.name}`,
  loop: (source, target) =>
    `sourceable: applies in ${target.name} already lead to runs in ${source.name}, so this would be an endless loop`,
  'too far': (_, target) => `sourceable: too many workspaces follow ${target.name} to check for a loop`,
  'too many sources': (_, target) => `runs in ${target.name} are queued by ${maxSources} workspaces, the maximum`,
  'too many targets': (source) => `applies in ${source.name} queue runs in ${maxTargets} workspaces, the maximum`,
};

const create = async (context: Context<Workspace>): Promise<Answer> => {
  const { request, subject, principal } = context;
  checkUnmanaged(subject, 'queue runs by triggers');
  readData(request, {}, { sourceable: toOne('workspaces') });
  const id = requiredIn(request, 'sourceable', 'workspaces');
  const source = await getWorkspace(id);
  const mayRead =
    source && (await principal.on({ organization: source.organization, workspace: source })).has('workspace:read');
  if (!mayRead || source.organization !== subject.organization) {
    throw unprocessable(pointer, `sourceable: workspace ${id} not found in ${nameOf(subject.organization)}`);
  }
  const trigger = await createRunTrigger(subject.organization, { workspaceId: subject.id, sourceableId: source.id });
  if (typeof trigger === 'string') throw unprocessable(pointer, refusals[trigger](source, subject));
  return created(runTriggerDocument(trigger, await namesOf(context, [trigger])));
};

const listOfWorkspace = async (context: Context<Workspace>): Promise<Answer> => {
  const { request, subject } = context;
  const direction = request.query.get('filter[run-trigger][type]');
  if (direction !== 'inbound' && direction !== 'outbound') {
    const parameter = 'filter[run-trigger][type]';
    throw badRequest(`${parameter} is required and must be "inbound" or "outbound".`, parameter);
  }
  const page = pageOf(request);
  const all = await listRunTriggers(subject.id, direction);
  const shown = pageSlice(all, page);
  const names = await namesOf(context, shown);
  const data = shown.map((trigger) => runTriggerDocument(trigger, names));
  return list(request, page, all.length, data, await related(context, shown, names));
};

const read = async (context: Context<RunTrigger>): Promise<Answer> => {
  const names = await namesOf(context, [context.subject]);
  return ok(runTriggerDocument(context.subject, names), await related(context, [context.subject], names));
};

export const runTriggerRoutes: Route[] = [
  route('POST', '/workspaces/{workspace}/run-triggers', 'workspace:update', workspace, create),
  route('GET', '/workspaces/{workspace}/run-triggers', 'workspace:read', workspace, listOfWorkspace, {
    include,
    'filter[run-trigger][type]': 'text',
  }),
  route('GET', '/run-triggers/{trigger}', 'workspace:read', runTrigger, read, { include }),
  route('DELETE', '/run-triggers/{trigger}', 'workspace:update', runTrigger, noContentAfter(deleteRunTrigger)),
];
