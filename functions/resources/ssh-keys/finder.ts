import { inOrganization, param } from '#api/finders.ts';
import type { Finder } from '#api/route.ts';
import { getSshKey, type SshKey } from './records.ts';

export const sshKey: Finder<SshKey> = {
  what: 'SSH key',
  parameter: 'sshKey',
  find: (request) => getSshKey(param(request, 'sshKey')),
  visibleWith: 'ssh-key:read',
  scope: inOrganization,
};
