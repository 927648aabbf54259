import { byId } from '#api/finders.ts';
import { getSshKey } from './records.ts';

export const sshKey = byId({ what: 'SSH key', parameter: 'sshKey', get: getSshKey, visibleWith: 'ssh-key:read' });
