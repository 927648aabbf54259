import { one } from '#api/answer.ts';
import type { ReservedTagKey } from './records.ts';

export const reservedTagKeyDocument = (reserved: ReservedTagKey) => ({
  id: reserved.id,
  type: 'reserved-tag-keys',
  attributes: {
    key: reserved.key,
    'disable-overrides': reserved.disableOverrides,
    'created-at': reserved.createdAt,
    'updated-at': reserved.updatedAt,
  },
  relationships: { organization: one('organizations', reserved.organization) },
  links: { self: `/api/v2/reserved-tag-keys/${reserved.id}` },
});
