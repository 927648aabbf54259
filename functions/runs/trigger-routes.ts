import { type Answer, created, noContent, ok, one, type Resource } from '../api/answer.ts';
import { badRequest, unprocessable } from '../api/errors.ts';
import { includes } from '../api/include.ts';
import { list, pageOf, slice } from '../api/pagination.ts';
import { type Context, type Route, route, type Subject } from '../api/route.ts';
import { readData, requiredIn, toOne } from '../api/validation.ts';
import { workspaceDocuments } from '../workspaces/document.ts';
import { workspace } from '../workspaces/finder.ts';
import { getWorkspace, getWorkspaces, type Workspace } from '../workspaces/records.ts';
import { runTrigger } from './finder.ts';
import {
  createRunTrigger,
  deleteRunTrigger,
  listRunTriggers,
  mostSources,
  mostTargets,
  type Refusal,
  type RunTrigger,
} from './triggers.ts';

/** Run triggers (HCP API: run triggers). */

type Names = Map<string, Workspace>;

const document = (trigger: RunTrigger, workspaces: Names): Resource => ({
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

/** Those that the caller may see. */
const namesOf = async ({ principal, subject }: Context<Subject>, triggers: RunTrigger[]): Promise<Names> => {
  const ids = triggers.flatMap(({ workspaceId, sourceableId }) => [workspaceId, sourceableId]);
  const found = (await getWorkspaces([...new Set(ids)])).map((one) => ({ workspaceId: one.id, one }));
  return new Map((await principal.visible(subject.organization, found)).map(({ one }) => [one.id, one]));
};

const related = async (
  { request, principal }: Context<Subject>,
  triggers: RunTrigger[],
  names: Names,
): Promise<Resource[] | undefined> => {
  const include = includes(request, ['workspace', 'sourceable']);
  if (include.size === 0) return undefined;
  const ids = triggers.flatMap(({ workspaceId, sourceableId }) => [
    ...(include.has('workspace') ? [workspaceId] : []),
    ...(include.has('sourceable') ? [sourceableId] : []),
  ]);
  return workspaceDocuments(
    principal,
    [...new Set(ids)].flatMap((id) => names.get(id) ?? []),
  );
};

const pointer = '/data/relationships/sourceable';

const refusals: Record<Refusal, (source: Workspace, target: Workspace) => string> = {
  exists: (source, target) => `applies in ${source.name} already queue runs in ${target.name}`,
  loop: (source, target) => `applies in ${target.name} lead to runs in ${source.name}: this would never end`,
  'too far': (_, target) => `too many workspaces are behind ${target.name} to see whether this would ever end`,
  'too many sources': (_, target) =>
    `runs in ${target.name} are queued by ${mostSources} workspaces, which is the most`,
  'too many targets': (source) =>
    `applies in ${source.name} queue runs in ${mostTargets} workspaces, which is the most`,
};

const create = async (context: Context<Workspace>): Promise<Answer> => {
  const { request, subject, principal } = context;
  readData(request, {}, { sourceable: toOne('workspaces') });
  const id = requiredIn(request, 'sourceable', 'workspaces');
  const source = await getWorkspace(id);
  const mayRead =
    source && (await principal.on({ organization: source.organization, workspace: source })).has('workspace:read');
  if (!mayRead || source.organization !== subject.organization) {
    throw unprocessable(pointer, `sourceable: there is no workspace ${id} in ${subject.organization}`);
  }
  const made = await createRunTrigger(subject.organization, { workspaceId: subject.id, sourceableId: source.id });
  if (typeof made === 'string') throw unprocessable(pointer, `sourceable: ${refusals[made](source, subject)}`);
  return created(document(made, await namesOf(context, [made])));
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
  const shown = slice(all, page);
  const names = await namesOf(context, shown);
  const data = shown.map((trigger) => document(trigger, names));
  return list(request, page, all.length, data, await related(context, shown, names));
};

const read = async (context: Context<RunTrigger>): Promise<Answer> => {
  const names = await namesOf(context, [context.subject]);
  return ok(document(context.subject, names), await related(context, [context.subject], names));
};

export const runTriggerRoutes: Route[] = [
  route('POST', '/workspaces/{workspace}/run-triggers', 'workspace:update', workspace, create),
  route('GET', '/workspaces/{workspace}/run-triggers', 'workspace:read', workspace, listOfWorkspace),
  route('GET', '/run-triggers/{trigger}', 'workspace:read', runTrigger, read),
  route('DELETE', '/run-triggers/{trigger}', 'workspace:update', runTrigger, async ({ subject }) => {
    await deleteRunTrigger(subject);
    return noContent();
  }),
];
