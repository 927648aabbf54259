import type { Run } from '../../run/run.ts';
import { listProjects } from '../../store/projects.ts';
import { getRuns } from '../../store/run-lists.ts';
import { listNames, type NameEntry } from '../../store/workspace-names.ts';
import { getWorkspaces, type Workspace } from '../../store/workspaces.ts';
import type { Answer } from '../answer.ts';
import { currentRunId, workspaceDocument } from '../documents/workspaces.ts';
import { badRequest } from '../errors.ts';
import type { InOrganization } from '../finders.ts';
import { list, pageOf, slice } from '../pagination.ts';
import { can } from '../permissions.ts';
import type { ApiRequest } from '../request.ts';
import type { Context } from '../route.ts';
import { relatedToWorkspaces, withRelated } from './workspace-includes.ts';

type Entry = NameEntry & { name: string };
type Test = (entry: Entry) => boolean;

const words = (text: string | null): string[] =>
  (text ?? '')
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean);

/** `*` is any text. By hand, because a regular expression made from a caller's pattern can take for ever. */
const glob = (pattern: string): ((name: string) => boolean) => {
  const [first = '', ...rest] = pattern.toLowerCase().split('*');
  const last = rest.pop();
  return (given) => {
    const name = given.toLowerCase();
    if (last === undefined) return name === first;
    if (!name.startsWith(first)) return false;
    let at = first.length;
    for (const part of rest) {
      const found = name.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return name.length - last.length >= at && name.endsWith(last);
  };
};

/** `filter[tagged][0][key]=team&filter[tagged][0][value]=net`: all must fit; without a value any does. */
const taggedTests = (query: URLSearchParams): Test[] => {
  const wanted = new Map<string, { key?: string; value?: string }>();
  for (const [name, value] of query) {
    const match = /^filter\[tagged\]\[([^\]]*)\]\[(key|value)\]$/.exec(name);
    if (!match) continue;
    const [, index = '', field] = match;
    wanted.set(index, { ...wanted.get(index), [field as 'key' | 'value']: value });
  }
  return [...wanted.values()].map(
    ({ key = '', value }): Test =>
      ({ tags }) =>
        tags.some((tag) => tag.key === key && (value === undefined || tag.value === value)),
  );
};

/** Tests that the index of names can answer by itself. */
const testsOf = ({ query }: ApiRequest): Test[] => {
  const tests = taggedTests(query);
  const name = query.get('search[name]')?.toLowerCase();
  if (name) tests.push((entry) => entry.name.toLowerCase().includes(name));
  const pattern = query.get('search[wildcard-name]');
  if (pattern) {
    const fits = glob(pattern);
    tests.push((entry) => fits(entry.name));
  }
  const project = query.get('filter[project][id]');
  if (project) tests.push((entry) => entry.projectId === project);
  const has = ({ tags }: Entry, key: string) => tags.some((tag) => tag.key === key);
  for (const key of words(query.get('search[tags]'))) tests.push((entry) => has(entry, key));
  for (const key of words(query.get('search[exclude-tags]'))) tests.push((entry) => !has(entry, key));
  return tests;
};

/** Where tags are asked for, those of the project count too, unless the workspace has its own of that key. */
const withProjectTags = async ({ query }: ApiRequest, organization: string, entries: Entry[]): Promise<Entry[]> => {
  const asks = [...query.keys()].some((name) => /^(search\[(exclude-)?tags\]|filter\[tagged\])/.test(name));
  if (!asks) return entries;
  const projects = new Map((await listProjects(organization)).map(({ id, tags = [] }) => [id, tags]));
  return entries.map((entry) => {
    const own = new Set(entry.tags.map(({ key }) => key));
    const inherited = (projects.get(entry.projectId) ?? []).filter(({ key }) => !own.has(key));
    return { ...entry, tags: [...entry.tags, ...inherited] };
  });
};

const runsOf = async (workspaces: Workspace[]): Promise<Map<string, Run>> => {
  const ids = workspaces.map(currentRunId).filter((id) => id !== undefined);
  return new Map((await getRuns(ids)).map((run) => [run.id, run]));
};

type Key = (workspace: Workspace, run: Run | undefined) => string;
const sorts: Record<string, Key> = {
  name: ({ name }) => name,
  'current-run.created-at': (_, run) => run?.createdAt ?? '',
  'latest-change-at': ({ state, updatedAt }) => state?.at ?? updatedAt,
};

const sortOf = ({ query }: ApiRequest) => {
  const sort = query.get('sort') || 'name';
  const key = sort.replace(/^-/, '');
  if (!Object.hasOwn(sorts, key)) {
    throw badRequest(`Invalid sort parameter. Known: ${Object.keys(sorts).join(', ')}, each also with "-".`, 'sort');
  }
  return { key, by: sorts[key] as Key, descending: sort.startsWith('-') };
};

/** Reads the index, then the records of the page only; other orders and the run filter need every match's record. */
const select = async (request: ApiRequest, organization: string) => {
  const page = pageOf(request);
  const { key, by, descending } = sortOf(request);
  const statuses = words(request.query.get('filter[current-run][status]'));
  const tests = testsOf(request);
  const names = await withProjectTags(request, organization, await listNames(organization));
  const entries = names.filter((entry) => tests.every((test) => test(entry)));
  if (key === 'name' && statuses.length === 0) {
    if (descending) entries.reverse();
    const workspaces = await getWorkspaces(slice(entries, page).map(({ workspaceId }) => workspaceId));
    return { page, total: entries.length, workspaces };
  }
  const all = await getWorkspaces(entries.map(({ workspaceId }) => workspaceId));
  const runs = await runsOf(all);
  const run = (workspace: Workspace) => runs.get(currentRunId(workspace) ?? '');
  const found = all
    .filter((workspace) => statuses.length === 0 || statuses.includes(run(workspace)?.status ?? ''))
    .map((workspace) => ({ workspace, key: by(workspace, run(workspace)) }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ workspace }) => workspace);
  if (descending) found.reverse();
  return { page, total: found.length, workspaces: slice(found, page) };
};

export const listWorkspaces = async (context: Context<InOrganization>): Promise<Answer> => {
  const { request, subject, roles } = context;
  if (!can(roles, 'workspace:read')) return list(request, pageOf(request), 0, []);
  const { page, total, workspaces } = await select(request, subject.organization);
  const shown = workspaces.map((workspace) => ({ workspace, runId: currentRunId(workspace) }));
  const related = await relatedToWorkspaces(context, shown);
  const data = workspaces.map((workspace) => withRelated(workspaceDocument(workspace, roles), related));
  return list(request, page, total, data, related?.included);
};
