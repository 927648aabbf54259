import { byId } from '#api/finders.ts';
import { getReservedTagKey } from './records.ts';

export const reservedTagKey = byId({
  what: 'reserved tag key',
  parameter: 'reservedTagKey',
  get: getReservedTagKey,
  visibleWith: 'reserved-tag-key:read',
});
