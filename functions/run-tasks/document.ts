import { many, one } from '../api/answer.ts';
import type { Task } from './records.ts';
import type { WorkspaceTask } from './workspace-tasks.ts';

/** The key is never told; `workspaceTaskIds` of every workspace that has the task. */
export const taskDocument = (task: Task, workspaceTaskIds: string[]) => ({
  id: task.id,
  type: 'tasks',
  attributes: {
    category: 'task',
    name: task.name,
    url: task.url,
    description: task.description,
    enabled: task.enabled,
    'hmac-key': null,
    'global-configuration': {
      enabled: task.global.enabled,
      stages: task.global.stages,
      'enforcement-level': task.global.enforcementLevel,
    },
    'created-at': task.createdAt,
    'updated-at': task.updatedAt,
  },
  relationships: {
    organization: one('organizations', task.organization),
    'workspace-tasks': many('workspace-tasks', workspaceTaskIds),
    'agent-pool': { data: null },
  },
  links: { self: `/api/v2/tasks/${task.id}` },
});

export const workspaceTaskDocument = (made: WorkspaceTask) => ({
  id: made.id,
  type: 'workspace-tasks',
  attributes: {
    'enforcement-level': made.enforcementLevel,
    stage: made.stages[0],
    stages: made.stages,
    'created-at': made.createdAt,
    'updated-at': made.updatedAt,
  },
  relationships: { task: one('tasks', made.taskId), workspace: one('workspaces', made.workspaceId) },
  links: { self: `/api/v2/workspaces/${made.workspaceId}/tasks/${made.id}` },
});
