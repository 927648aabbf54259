import { inOrganization, param } from '#api/finders.ts';
import type { Finder } from '#api/route.ts';
import { getReservedTagKey, type ReservedTagKey } from './records.ts';

export const reservedTagKey: Finder<ReservedTagKey> = {
  what: 'reserved tag key',
  parameter: 'reservedTagKey',
  find: (request) => getReservedTagKey(param(request, 'reservedTagKey')),
  visibleWith: 'reserved-tag-key:read',
  scope: inOrganization,
};
