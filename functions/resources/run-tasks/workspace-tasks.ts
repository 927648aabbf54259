import { derivedId } from '#platform/store/id.ts';
import { keys } from '#platform/store/keys.ts';
import { create, get, put, query, queryAll, remove, updateExisting } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { queryTogether } from '#platform/store/together.ts';
import type { TaskStage } from '#run/check-record.ts';
import type { EnforcementLevel } from '#run/task-stages.ts';

/** The attachment of a run task to a workspace. */
export interface WorkspaceTask {
  id: string;
  workspaceId: string;
  taskId: string;
  stages: TaskStage[];
  enforcementLevel: EnforcementLevel;
  createdAt: string;
  updatedAt: string;
}

export type WorkspaceTaskSettings = Pick<WorkspaceTask, 'stages' | 'enforcementLevel'>;

/** Maximum number of run tasks in a workspace. */
export const maxWorkspaceTasks = 50;

/** Derived from both ids, because a workspace has a task at most once. */
const idOf = (workspaceId: string, taskId: string): string => derivedId('wstask', `${workspaceId} ${taskId}`);

export const getWorkspaceTask = (workspaceId: string, id: string): Promise<WorkspaceTask | undefined> =>
  get<WorkspaceTask>(keys.workspaceTask(workspaceId, id));

/** 1 query when there are none. */
export const listWorkspaceTasks = (workspaceId: string): Promise<WorkspaceTask[]> =>
  queryTogether<WorkspaceTask>(keys.workspace(workspaceId).pk, 'WSTASK#');

/** All attachments of the task to workspaces. */
export const listTaskWorkspaces = async (taskId: string): Promise<WorkspaceTask[]> => {
  const pointers = await queryAll<{ workspaceId: string }>({ pk: keys.task(taskId).pk, prefix: 'WSTASK#' });
  const attachments = await Promise.all(
    pointers.map(({ workspaceId }) => getWorkspaceTask(workspaceId, idOf(workspaceId, taskId))),
  );
  return attachments.filter((attachment) => attachment !== undefined);
};

export const isTaskInUse = async (taskId: string): Promise<boolean> => {
  const pointers = await query({ pk: keys.task(taskId).pk, prefix: 'WSTASK#', limit: 1 });
  return pointers.length > 0;
};

/** Undefined when the workspace already has the task. 2 writes. */
export const createWorkspaceTask = async (
  workspaceId: string,
  taskId: string,
  settings: WorkspaceTaskSettings,
): Promise<WorkspaceTask | undefined> => {
  const at = now();
  const attachment: WorkspaceTask = {
    ...settings,
    id: idOf(workspaceId, taskId),
    workspaceId,
    taskId,
    createdAt: at,
    updatedAt: at,
  };
  await put({ ...keys.taskWorkspace(taskId, workspaceId), workspaceId });
  return (await create({ ...keys.workspaceTask(workspaceId, attachment.id), ...attachment })) ? attachment : undefined;
};

/** Undefined when the attachment is deleted. */
export const updateWorkspaceTask = (
  { workspaceId, id }: WorkspaceTask,
  change: Partial<WorkspaceTaskSettings>,
): Promise<WorkspaceTask | undefined> =>
  updateExisting<WorkspaceTask>(keys.workspaceTask(workspaceId, id), { set: { ...change, updatedAt: now() } });

export const deleteWorkspaceTask = async ({ workspaceId, taskId, id }: WorkspaceTask): Promise<void> => {
  await remove(keys.workspaceTask(workspaceId, id));
  await remove(keys.taskWorkspace(taskId, workspaceId));
};

export const deleteWorkspaceTasksOf = async (workspaceId: string): Promise<void> => {
  for (const attachment of await listWorkspaceTasks(workspaceId)) await deleteWorkspaceTask(attachment);
};
