import { badRequest } from '#api/errors.ts';
import type { QueryParameters } from '#api/query-parameters.ts';
import type { ApiRequest } from '#api/request.ts';
import { listMembers } from '#resources/users/memberships.ts';
import { getUsers } from '#resources/users/users.ts';
import { nameEntry } from '#resources/workspaces/names.ts';
import { isAccepted } from '#run/actions.ts';
import { runOperations } from '#run/operation.ts';
import type { Run } from '#run/run.ts';
import { isFinal, runStatuses } from '#run/status.ts';
import type { RunFilter, RunPointer } from './lists.ts';

/** Filters and searches of lists of runs (HCP API: runs, list). */

export const runFilter: QueryParameters = {
  'search[basic]': 'text',
  'search[commit]': 'text',
  'search[user]': 'text',
  'filter[operation]': 'text',
  'filter[source]': {
    some: ['tfe-api', 'tfe-ui', 'tfe-configuration-version', 'tfe-run-trigger', 'terraform', 'terraform+cloud'],
  },
  'filter[status]': 'text',
  'filter[status_group]': 'text',
  'filter[timeframe]': 'text',
  'filter[workspace_names]': 'text',
  'filter[agent_pool_names]': 'text',
};

const words = <T extends string>({ query }: ApiRequest, parameter: string, allowed?: readonly T[]): T[] => {
  const all = (query.get(parameter) ?? '').split(',').map((word) => word.trim());
  const terms = all.filter(Boolean) as T[];
  const unknown = allowed && terms.find((word) => !allowed.includes(word));
  if (unknown) throw badRequest(`${parameter} must be one or more of ${allowed?.join(', ')}.`, parameter);
  return terms;
};

const groups = ['non_final', 'final', 'discardable'] as const;
type Group = (typeof groups)[number];

const inGroup = (run: Run, group: Group): boolean => {
  if (group === 'discardable') return isAccepted('discard', run);
  return isFinal(run.status) === (group === 'final');
};

const text = ({ query }: ApiRequest, parameter: string): string => (query.get(parameter) ?? '').trim().toLowerCase();

/** Ids of members whose username contains the text. */
const usersNamed = async (organization: string, search: string): Promise<Set<string>> => {
  const users = await getUsers(await listMembers(organization));
  return new Set(users.filter(({ username }) => username.toLowerCase().includes(search)).map(({ id }) => id));
};

/** A year such as `2026`, or `year` for the last twelve months. */
const timeframe = ({ query }: ApiRequest): Pick<RunFilter, 'from' | 'to'> => {
  const timeframe = query.get('filter[timeframe]');
  if (!timeframe) return {};
  if (timeframe === 'year') return { from: new Date(Date.now() - 365 * 24 * 3600 * 1000).toISOString() };
  if (/^20\d\d$/.test(timeframe)) return { from: timeframe, to: `${Number(timeframe) + 1}` };
  throw badRequest('filter[timeframe] must be "year" or a year such as 2026.', 'filter[timeframe]');
};

const maxNames = 100;

const workspacesNamed = async (organization: string, names: string[]): Promise<Set<string>> => {
  if (names.length > maxNames) {
    throw badRequest(`filter[workspace_names]: may have at most ${maxNames} names`, 'filter[workspace_names]');
  }
  const entries = await Promise.all(names.map((name) => nameEntry(organization, name.slice(0, 100))));
  return new Set(entries.flatMap((entry) => entry?.workspaceId ?? []));
};

const fitsAll =
  <T>(tests: ((item: T) => boolean)[]) =>
  (item: T) =>
    tests.every((test) => test(item));

/**
 * Filter of the request; `plain` without any. Leaves out plan-only runs unless the request names them.
 * @throws {ApiError} 400
 */
export const readRunFilter = async (
  request: ApiRequest,
  organization: string,
): Promise<RunFilter & { plain: boolean }> => {
  const operations = words(request, 'filter[operation]', runOperations);
  const sources = words(request, 'filter[source]');
  const statuses = words(request, 'filter[status]', runStatuses);
  const within = words(request, 'filter[status_group]', groups);
  const names = words(request, 'filter[workspace_names]');
  const pools = words(request, 'filter[agent_pool_names]');
  const basic = text(request, 'search[basic]');
  const user = text(request, 'search[user]');
  const times = timeframe(request);

  const byPointer: ((pointer: RunPointer) => boolean)[] = [
    ({ operation }) => (operations.length ? operations.includes(operation) : operation !== 'plan_only'),
  ];
  if (sources.length) byPointer.push(({ source }) => sources.includes(source));
  if (names.length) {
    const ids = await workspacesNamed(organization, names);
    byPointer.push(({ workspaceId }) => ids.has(workspaceId));
  }
  const commit = text(request, 'search[commit]');

  const byRun: ((run: Run) => boolean)[] = [];
  if (statuses.length) byRun.push(({ status }) => statuses.includes(status));
  if (pools.length) byRun.push(({ agentPool }) => agentPool !== undefined && pools.includes(agentPool.name));
  if (commit) byRun.push(({ ingress }) => ingress?.commitSha.startsWith(commit) ?? false);
  if (within.length) byRun.push((run) => within.some((group) => inGroup(run, group)));
  if (user || basic) {
    const ids = await usersNamed(organization, user || basic);
    if (user) byRun.push(({ createdBy }) => ids.has(createdBy));
    else byRun.push((run) => ids.has(run.createdBy) || `${run.id}\n${run.message}`.toLowerCase().includes(basic));
  }
  const filtered = [operations, sources, statuses, within, names, pools].some(({ length }) => length > 0);
  return {
    mayFit: fitsAll(byPointer),
    ...(byRun.length ? { fits: fitsAll(byRun) } : {}),
    open:
      (statuses.length > 0 && statuses.every((status) => !isFinal(status))) ||
      (within.length > 0 && !within.includes('final')),
    ...times,
    plain: !filtered && !basic && !user && !commit && !times.from,
  };
};
