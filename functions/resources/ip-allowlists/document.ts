import { many, one } from '#api/answer.ts';
import type { CidrRange, IpAllowlist } from './records.ts';

/** @param agentPoolIds existing pools */
export const ipAllowlistDocument = (organization: string, list: IpAllowlist, agentPoolIds: string[]) => ({
  id: list.id,
  type: 'cidr-range-lists',
  attributes: {
    name: list.name,
    description: list.description ?? '',
    'enforcement-scope': list.scope,
    'created-at': list.createdAt,
    'updated-at': list.updatedAt,
  },
  relationships: {
    organization: one('organizations', organization),
    'agent-pools': many('agent-pools', agentPoolIds),
    'cidr-ranges': many(
      'cidr-ranges',
      list.ranges.map(({ id }) => id),
    ),
  },
  links: { self: `/api/v2/cidr-range-lists/${list.id}` },
});

export const cidrRangeDocument = (organization: string, listId: string, range: CidrRange) => ({
  id: range.id,
  type: 'cidr-ranges',
  attributes: {
    range: range.range,
    description: range.description,
    enabled: range.enabled,
    'updated-at': range.updatedAt,
  },
  relationships: {
    organization: one('organizations', organization),
    'cidr-range-list': one('cidr-range-lists', listId),
  },
  links: { self: `/api/v2/cidr-ranges/${range.id}` },
});
