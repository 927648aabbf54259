import { inOrganization, param } from '#api/finders.ts';
import type { Finder } from '#api/route.ts';
import { getTask, type Task } from './records.ts';

export const task: Finder<Task> = {
  what: 'run task',
  parameter: 'task',
  find: (request) => getTask(param(request, 'task')),
  visibleWith: 'task:read',
  scope: inOrganization,
};
