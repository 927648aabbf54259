import { byId } from '#api/finders.ts';
import { getTask } from './records.ts';

export const task = byId({ what: 'run task', parameter: 'task', get: getTask, visibleWith: 'task:read' });
