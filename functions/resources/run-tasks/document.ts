import { many, one } from '#api/answer.ts';
import type { Task } from './records.ts';
import type { WorkspaceTask } from './workspace-tasks.ts';

/** Documents never contain the key. `workspaceTaskIds`: ids of all attachments to workspaces. */
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

export const workspaceTaskDocument = (attachment: WorkspaceTask) => ({
  id: attachment.id,
  type: 'workspace-tasks',
  attributes: {
    'enforcement-level': attachment.enforcementLevel,
    stage: attachment.stages[0],
    stages: attachment.stages,
    'created-at': attachment.createdAt,
    'updated-at': attachment.updatedAt,
  },
  relationships: { task: one('tasks', attachment.taskId), workspace: one('workspaces', attachment.workspaceId) },
  links: { self: `/api/v2/workspaces/${attachment.workspaceId}/tasks/${attachment.id}` },
});
