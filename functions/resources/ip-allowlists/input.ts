import * as v from 'valibot';
import type { OtherFields } from '#api/known-attributes.ts';
import type { ApiRequest } from '#api/request.ts';
import { identifier, readData, readWhole, text } from '#api/validation.ts';
import { readRange } from './addresses.ts';
import type { CidrRange, IpAllowlist } from './records.ts';

/** Input of IP allowlists and their ranges (HCP API: IP allowlists). */

const name = v.pipe(
  v.string(),
  v.regex(
    /^(?=.{1,90}$)[^\p{Cc}\s](?:[^\p{Cc}]*[^\p{Cc}\s])?$/u,
    'must have 1 to 90 characters, and no space at either end',
  ),
);
const description = v.optional(v.nullable(text(255)));
const scopes = ['organization', 'all_agent_pools', 'selected_agent_pools'] as const;
const scope = v.optional(v.picklist(scopes));
const maxPoolsOfList = 100;

const pools = v.pipe(
  v.array(identifier('agent-pools')),
  v.maxLength(maxPoolsOfList, `may have at most ${maxPoolsOfList}`),
  v.transform((all) => [...new Set(all.map(({ id }) => id))]),
);
const relationships = { 'agent-pools': v.optional(v.object({ data: pools })) };

const listFields: OtherFields = { shown: 'created-at updated-at', related: 'organization' };

export type ListValues = Pick<IpAllowlist, 'name' | 'description' | 'scope' | 'agentPoolIds'>;

/** @throws {ApiError} 400 or 422 */
export const readNewList = (request: ApiRequest): ListValues => {
  const { attributes, relationships: related } = readData(
    request,
    { name, description, 'enforcement-scope': scope },
    relationships,
    { ...listFields, lacking: { 'cidr-ranges': 'add ranges to the new list at relationships/cidr-ranges' } },
  );
  return {
    name: attributes.name,
    description: attributes.description || null,
    scope: attributes['enforcement-scope'] ?? 'selected_agent_pools',
    agentPoolIds: related['agent-pools']?.data ?? [],
  };
};

/** @throws {ApiError} 400 or 422 */
export const readListChange = (request: ApiRequest): Partial<ListValues> => {
  const { attributes, relationships: related } = readData(
    request,
    { name: v.optional(name), description, 'enforcement-scope': scope },
    relationships,
    { ...listFields, related: 'organization cidr-ranges' },
  );
  const { name: renamed, description: described, 'enforcement-scope': scoped } = attributes;
  const assigned = related['agent-pools']?.data;
  return {
    ...(renamed === undefined ? {} : { name: renamed }),
    ...(described === undefined ? {} : { description: described || null }),
    ...(scoped === undefined ? {} : { scope: scoped }),
    ...(assigned === undefined ? {} : { agentPoolIds: assigned }),
  };
};

const range = v.pipe(
  v.string(),
  v.maxLength(60, 'is not a range in CIDR notation'),
  v.rawCheck(({ dataset, addIssue }) => {
    const read = dataset.typed ? readRange(dataset.value) : '';
    if (typeof read === 'string') addIssue({ message: read });
  }),
);
const enabled = v.optional(v.boolean());
const rangeFields: OtherFields = { shown: 'updated-at', related: 'organization cidr-range-list' };

export type RangeValues = Pick<CidrRange, 'range' | 'description' | 'enabled'>;

/** @throws {ApiError} 400 or 422 */
export const readNewRange = (request: ApiRequest): RangeValues => {
  const { attributes } = readData(request, { range, description, enabled }, {}, rangeFields);
  return {
    range: attributes.range,
    description: attributes.description || null,
    enabled: attributes.enabled ?? true,
  };
};

/** @throws {ApiError} 400 or 422 */
export const readRangeChange = (request: ApiRequest): Partial<RangeValues> => {
  const { attributes } = readData(request, { range: v.optional(range), description, enabled }, {}, rangeFields);
  return {
    ...(attributes.range === undefined ? {} : { range: attributes.range }),
    ...(attributes.description === undefined ? {} : { description: attributes.description || null }),
    ...(attributes.enabled === undefined ? {} : { enabled: attributes.enabled }),
  };
};

/** @throws {ApiError} 400 or 422 */
export const readPools = (request: ApiRequest): string[] => readWhole(request, v.object({ data: pools })).data;
