import { type Answer, created, noContent, ok, type Resource } from '#api/answer.ts';
import { type ApiError, conflict, nameTaken, notFound, unprocessable } from '#api/errors.ts';
import { editorOf, refusedChange, withEtag } from '#api/guard.ts';
import { includable } from '#api/include.ts';
import { listLimit } from '#api/list-limit.ts';
import { nameOf } from '#api/naming.ts';
import { list, pageFrom, pageOf, pageSlice, pageWith } from '#api/pagination.ts';
import { flag } from '#api/query-parameters.ts';
import { type Call, type Context, type Route, route, type Subject, userRoute } from '#api/route.ts';
import { createLimited } from '#platform/store/limited.ts';
import { type InOrganization, organization } from '#resources/organizations/finder.ts';
import { workspaceDocuments } from '#resources/workspaces/document.ts';
import { workspace } from '#resources/workspaces/finder.ts';
import { getWorkspaces, type Workspace } from '#resources/workspaces/records.ts';
import { taskDocument, workspaceTaskDocument } from './document.ts';
import { task } from './finder.ts';
import { readNewTask, readNewWorkspaceTask, readTaskChange, readWorkspaceTaskChange } from './input.ts';
import {
  countTasks,
  createTask,
  deleteTask,
  getTask,
  getTasks,
  listTasks,
  maxGlobalTasks,
  maxTasks,
  type Task,
  TooManyGlobalError,
  updateTask,
} from './records.ts';
import {
  createWorkspaceTask,
  deleteWorkspaceTask,
  getWorkspaceTask,
  isTaskInUse,
  listTaskWorkspaces,
  listWorkspaceTasks,
  maxWorkspaceTasks,
  updateWorkspaceTask,
  type WorkspaceTask,
} from './workspace-tasks.ts';

/** Run tasks of organizations, and of workspaces (HCP API: run tasks). */

const taskIncludes = includable('workspace_tasks', 'workspace_tasks.workspace');
const workspaceTaskIncludes = includable('task');

/** Documents of tasks with the requested includes. */
const documents = async (
  { request, subject, principal }: Context<Subject>,
  tasks: Task[],
): Promise<{ data: Resource[]; included?: Resource[] }> => {
  const include = taskIncludes.of(request);
  const uses = await Promise.all(
    tasks.map(async ({ id }) => principal.visible(subject.organization, await listTaskWorkspaces(id))),
  );
  const data = tasks.map((task, i) =>
    taskDocument(
      task,
      (uses[i] ?? []).map(({ id }) => id),
    ),
  );
  if (include.size === 0) return { data };
  const used = uses.flat();
  const ids = include.has('workspace_tasks.workspace') ? used.map(({ workspaceId }) => workspaceId) : [];
  const workspaces = await getWorkspaces([...new Set(ids)]);
  const included = [...used.map(workspaceTaskDocument), ...(await workspaceDocuments(principal, workspaces))];
  return { data, included };
};

const single = async (context: Context<Subject>, record: Task): Promise<Answer> => {
  const { data, included } = await documents(context, [record]);
  return withEtag(ok(data[0] as Resource, included), record);
};

/** @throws {ApiError} 422 when there are too many global run tasks */
const checkingGlobal = async <T>(name: string, write: () => Promise<T>): Promise<T> => {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof TooManyGlobalError)) throw error;
    throw unprocessable(
      '/data/attributes/global-configuration',
      `global-configuration: ${name} has ${maxGlobalTasks} global run tasks, the maximum. Make one of them not global first`,
    );
  }
};

const create = async (context: Context<InOrganization>): Promise<Answer> => {
  const name = context.subject.organization;
  const limit = listLimit(name, maxTasks, 'run tasks', () => countTasks(name));
  const make = async () => {
    const settings = await readNewTask(context.request, name);
    return checkingGlobal(name, () => createTask(name, settings));
  };
  const task = await createLimited(limit, make, deleteTask);
  if (!task) throw nameTaken();
  return created(taskDocument(task, []));
};

const listOfOrganization = async (context: Context<InOrganization>): Promise<Answer> => {
  const all = await listTasks(context.subject.organization);
  return pageWith(context.request, all, (tasks) => documents(context, tasks));
};

const update = async (context: Context<Task>): Promise<Answer> => {
  const { request, subject } = context;
  const editor = await editorOf(context, subject, 'run task');
  const change = await readTaskChange(request, subject);
  const updated = await checkingGlobal(subject.organization, () => updateTask(subject, change, editor));
  if (!updated) throw await refusedChange(request, 'run task', await getTask(subject.id), nameTaken());
  return single(context, updated);
};

/** Names only workspaces that the caller may see. */
const inUse = async ({ subject, principal }: Context<Task>, workspaces: Workspace[]): Promise<ApiError> => {
  const uses = workspaces.map((workspace) => ({ workspaceId: workspace.id, workspace }));
  const names = (await principal.visible(subject.organization, uses)).map(({ workspace }) => workspace.name);
  const count = uses.length === 1 ? '1 workspace' : `${uses.length} workspaces`;
  const examples = names.length ? ` (${names.slice(0, 5).join(', ')}${names.length > 5 ? ', …' : ''})` : '';
  return conflict(`Run task ${subject.name} is used by ${count}${examples}. Remove it from them first.`);
};

const remove = async (context: Context<Task>): Promise<Answer> => {
  const { subject } = context;
  if (await isTaskInUse(subject.id)) {
    const uses = await listTaskWorkspaces(subject.id);
    const workspaces = await getWorkspaces(uses.map(({ workspaceId }) => workspaceId));
    if (workspaces.length > 0) throw await inUse(context, workspaces);
  }
  await deleteTask(subject);
  return noContent();
};

const listUses = async ({ request, subject, principal }: Context<Task>): Promise<Answer> => {
  const all = await principal.visible(subject.organization, await listTaskWorkspaces(subject.id));
  return pageFrom(request, all, workspaceTaskDocument);
};

const taskPointer = '/data/relationships/task';

const attach = async ({ request, subject }: Context<Workspace>): Promise<Answer> => {
  const { taskId, settings } = readNewWorkspaceTask(request);
  const task = await getTask(taskId);
  if (task?.organization !== subject.organization) {
    throw unprocessable(taskPointer, `task: run task ${taskId} not found in ${nameOf(subject.organization)}`);
  }
  const limit = {
    max: maxWorkspaceTasks,
    count: async () => (await listWorkspaceTasks(subject.id)).length,
    full: () => unprocessable('/data', `a workspace can have at most ${maxWorkspaceTasks} run tasks; remove one first`),
  };
  const make = () => createWorkspaceTask(subject.id, taskId, settings);
  const attachment = await createLimited(limit, make, deleteWorkspaceTask);
  if (!attachment) throw unprocessable(taskPointer, `task: ${subject.name} already has run task ${task.name}`);
  return created(workspaceTaskDocument(attachment));
};

const listOfWorkspace = async ({ request, subject }: Context<Workspace>): Promise<Answer> => {
  const include = workspaceTaskIncludes.of(request);
  const all = (await listWorkspaceTasks(subject.id)).sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
  const page = pageOf(request);
  const shown = pageSlice(all, page);
  const tasks = include.has('task') ? await getTasks(shown.map(({ taskId }) => taskId)) : [];
  const included = include.size ? tasks.map((task) => taskDocument(task, [])) : undefined;
  return list(request, page, all.length, shown.map(workspaceTaskDocument), included);
};

const attachmentOf = async ({ request, subject }: Context<Workspace>): Promise<WorkspaceTask> => {
  const attachment = await getWorkspaceTask(subject.id, request.params.wstask ?? '');
  if (!attachment) throw notFound(`Run task not found in workspace ${subject.name}.`);
  return attachment;
};

const change = async (context: Context<Workspace>): Promise<Answer> => {
  const updated = await updateWorkspaceTask(await attachmentOf(context), readWorkspaceTaskChange(context.request));
  if (!updated) throw notFound(`Run task not found in workspace ${context.subject.name}.`);
  return ok(workspaceTaskDocument(updated));
};

const ofWorkspace = '/workspaces/{workspace}/tasks';

/** The platform has no built-in integrations: every run task is an external service. */
const integrations = async ({ request }: Call): Promise<Answer> => list(request, pageOf(request), 0, []);

export const taskRoutes: Route[] = [
  userRoute('GET', '/tasks/integrations', 'any user', integrations, {
    search: 'text',
    category: 'text',
    include_inactive: flag,
  }),
  route('POST', '/organizations/{organization}/tasks', 'task:write', organization, create, { include: taskIncludes }),
  route('GET', '/organizations/{organization}/tasks', 'task:read', organization, listOfOrganization, {
    include: taskIncludes,
  }),
  route('GET', '/tasks/{task}', 'task:read', task, (context) => single(context, context.subject), {
    include: taskIncludes,
  }),
  route('PATCH', '/tasks/{task}', 'task:write', task, update, { include: taskIncludes }),
  route('DELETE', '/tasks/{task}', 'task:write', task, remove),
  route('GET', '/tasks/{task}/relationships/workspace-tasks', 'task:read', task, listUses),
  route('POST', ofWorkspace, 'workspace:manage-tasks', workspace, attach),
  route('GET', ofWorkspace, 'workspace:read', workspace, listOfWorkspace, { include: workspaceTaskIncludes }),
  route('GET', `${ofWorkspace}/{wstask}`, 'workspace:read', workspace, async (context) =>
    ok(workspaceTaskDocument(await attachmentOf(context))),
  ),
  route('PATCH', `${ofWorkspace}/{wstask}`, 'workspace:manage-tasks', workspace, change),
  route('DELETE', `${ofWorkspace}/{wstask}`, 'workspace:manage-tasks', workspace, async (context) => {
    await deleteWorkspaceTask(await attachmentOf(context));
    return noContent();
  }),
];
