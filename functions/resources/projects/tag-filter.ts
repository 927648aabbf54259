import { badRequest } from '#api/errors.ts';
import { commaSeparated, type QueryParameters } from '#api/query-parameters.ts';
import type { Tag } from './tags.ts';

/** Filters by tags of lists of workspaces and projects (HCP API: workspaces, list). */

interface Tagged {
  key: string;
  value?: string;
}

/** `filter[tagged]=a,b`, or `filter[tagged][0][key]=team&filter[tagged][0][value]=net`. @throws {ApiError} 400 */
const taggedIn = (query: URLSearchParams): Tagged[] => {
  const byIndex = new Map<string, Partial<Tagged>>();
  for (const [name, value] of query) {
    const [, index, field] = /^filter\[tagged\]\[([^\]]*)\]\[(key|value)\]$/.exec(name) ?? [];
    if (index !== undefined) byIndex.set(index, { ...byIndex.get(index), [field as 'key' | 'value']: value });
  }
  const pairs = [...byIndex].map(([index, { key, value }]): Tagged => {
    const parameter = `filter[tagged][${index}][key]`;
    if (!key) throw badRequest(`${parameter} is required with a tag value.`, parameter);
    // go-tfe sends an empty value for a filter without one.
    return { key, value: value || undefined };
  });
  return [...commaSeparated(query.get('filter[tagged]')).map((key): Tagged => ({ key })), ...pairs];
};

/**
 * All filters must match, or any with `tag-union`. A filter without a value matches any value, or none with
 * `tag-value-default-null`.
 */
export const tagTests = (query: URLSearchParams): ((tags: readonly Tag[]) => boolean)[] => {
  const filters = taggedIn(query);
  if (filters.length === 0) return [];
  const otherwise = query.get('filter[tag-value-default-null]') === 'true' ? '' : undefined;
  const tests = filters.map(
    ({ key, value = otherwise }) =>
      (tags: readonly Tag[]) =>
        tags.some((tag) => tag.key === key && (value === undefined || tag.value === value)),
  );
  if (query.get('filter[tag-union]') === 'true') return [(tags) => tests.some((test) => test(tags))];
  return tests;
};

export const tagFilter: QueryParameters = {
  'filter[tagged]': 'text',
  'filter[tagged][*][key]': 'text',
  'filter[tagged][*][value]': 'text',
};
