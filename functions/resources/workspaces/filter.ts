import { commaSeparated, flag, type QueryParameters } from '#api/query-parameters.ts';
import type { ApiRequest } from '#api/request.ts';
import { tagFilter, tagTests } from '#resources/projects/tag-filter.ts';
import { runStatuses } from '#run/status.ts';
import type { WorkspaceFilter } from './lists.ts';

/** Filters and searches of lists of workspaces (HCP API: workspaces, list). */

type Entry = Parameters<WorkspaceFilter['mayFit']>[0];
type Test = (entry: Entry) => boolean;

/** `*` matches any text. Without a regular expression, because a caller's pattern could make it run forever. */
const glob = (pattern: string): ((name: string) => boolean) => {
  const [first = '', ...rest] = pattern.toLowerCase().split('*');
  const last = rest.pop();
  return (text) => {
    const name = text.toLowerCase();
    if (last === undefined) return name === first;
    if (!name.startsWith(first)) return false;
    let at = first.length;
    for (const part of rest) {
      const position = name.indexOf(part, at);
      if (position < 0) return false;
      at = position + part.length;
    }
    return name.length - last.length >= at && name.endsWith(last);
  };
};

const testsOfTags = (query: URLSearchParams): Test[] => {
  const has = ({ tags }: Entry, key: string) => tags.some((tag) => tag.key === key);
  return [
    ...tagTests(query).map(
      (test): Test =>
        ({ tags }) =>
          test(tags),
    ),
    ...commaSeparated(query.get('search[tags]')).map(
      (key): Test =>
        (entry) =>
          has(entry, key),
    ),
    ...commaSeparated(query.get('search[exclude-tags]')).map(
      (key): Test =>
        (entry) =>
          !has(entry, key),
    ),
  ];
};

const nameTests = (query: URLSearchParams): Test[] => {
  const name = query.get('search[name]')?.toLowerCase();
  const pattern = query.get('search[wildcard-name]');
  const fits = pattern ? glob(pattern) : undefined;
  return [
    ...(name ? [(entry: Entry) => entry.name.toLowerCase().includes(name)] : []),
    ...(fits ? [(entry: Entry) => fits(entry.name)] : []),
  ];
};

export const workspaceFilter: QueryParameters = {
  'search[name]': 'text',
  'search[wildcard-name]': 'text',
  'search[tags]': 'text',
  'search[exclude-tags]': 'text',
  'filter[project][id]': 'text',
  'filter[current-run][status]': { some: runStatuses },
  ...tagFilter,
  'filter[tag-union]': flag,
  'filter[tag-value-default-null]': flag,
  // Not in HCP's API: only, or without, the workspaces of environments and templates.
  'filter[managed]': flag,
};

export interface WorkspaceQuery extends Omit<WorkspaceFilter, 'descending'> {
  /** No filter in the request but `managed`. */
  plain: boolean;
  /** Statuses of the current run; empty: any. */
  statuses: string[];
  /** Whether they belong to environments and templates; absent: any. */
  managed?: boolean;
}

export const readWorkspaceFilter = ({ query }: ApiRequest): WorkspaceQuery => {
  const byTag = testsOfTags(query);
  const tests = [...nameTests(query), ...byTag];
  const projectId = query.get('filter[project][id]') || undefined;
  const managed = query.get('filter[managed]') ? query.get('filter[managed]') === 'true' : undefined;
  const statuses = commaSeparated(query.get('filter[current-run][status]'));
  return {
    beginning: query.get('search[wildcard-name]')?.split('*', 1)[0],
    projectId: projectId?.slice(0, 100),
    mayFit: (entry) =>
      (managed === undefined || managed === (entry.managed ?? false)) && tests.every((test) => test(entry)),
    byTags: byTag.length > 0,
    statuses,
    managed,
    plain: tests.length === 0 && statuses.length === 0 && projectId === undefined,
  };
};
