import type { Answer } from '#api/answer.ts';
import { badRequest } from '#api/errors.ts';
import { list, type Page, pageOf, pageSlice, totalOf } from '#api/pagination.ts';
import type { ApiRequest } from '#api/request.ts';
import type { Context } from '#api/route.ts';
import type { ScanResult } from '#platform/store/scan.ts';
import type { InOrganization } from '#resources/organizations/finder.ts';
import type { Run } from '#run/run.ts';
import { currentRunId, workspaceDocument } from './document.ts';
import { readWorkspaceFilter } from './filter.ts';
import { findWorkspaces, listWorkspaces } from './lists.ts';
import type { Workspace } from './records.ts';
import { type WorkspaceDependencies, withRelated, withUpgrade } from './related.ts';

const runsOf = async ({ getRuns }: WorkspaceDependencies, workspaces: Workspace[]): Promise<Map<string, Run>> => {
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
    throw badRequest(
      `Invalid sort parameter. Supported: ${Object.keys(sorts).join(', ')}, each also with the prefix "-".`,
      'sort',
    );
  }
  return { key, by: sorts[key] as Key, descending: sort.startsWith('-') };
};

interface WithRun {
  workspace: Workspace;
  run: Run | undefined;
}

const withRuns =
  (above: WorkspaceDependencies) =>
  async (workspaces: Workspace[]): Promise<WithRun[]> => {
    const runs = await runsOf(above, workspaces);
    return workspaces.map((workspace) => ({ workspace, run: runs.get(currentRunId(workspace) ?? '') }));
  };

/** Maximum number of workspaces that can be sorted other than by name, which takes reading all of them. */
const maxSorted = 2000;

interface Selected {
  page: Page;
  total: number;
  workspaces: Workspace[];
}

/**
 * Reads the records of the page. Filters on runs read more until the page is full; other sort orders read every
 * match.
 */
const select = async (
  above: WorkspaceDependencies,
  { request, subject, principal }: Context<InOrganization>,
): Promise<Selected> => {
  const { organization, record } = subject;
  const within = await principal.reach(organization, 'workspace:read');
  const page = pageOf(request);
  const { key, by, descending } = sortOf(request);
  const { plain, statuses, ...filter } = readWorkspaceFilter(request);
  const answer = ({ items, total, more }: ScanResult<Workspace>) => ({
    page,
    total: totalOf(page, total, more),
    workspaces: items,
  });
  if (key === 'name' && plain && !within) return answer(await listWorkspaces(record, page, descending));
  const find = <R>(paging: Page, then: Parameters<typeof findWorkspaces<R>>[3]) =>
    findWorkspaces<R>(organization, { ...filter, within, descending: descending && key === 'name' }, paging, {
      ...then,
      records: async (workspaces) => then.records(await visible(workspaces)),
    });
  const visible = async (workspaces: Workspace[]): Promise<Workspace[]> => {
    const granted = await principal.onWorkspaces(organization, workspaces);
    return workspaces.filter(({ id }) => granted(id).has('workspace:read'));
  };
  const fits = statuses.length > 0 ? ({ run }: WithRun) => statuses.includes(run?.status ?? '') : undefined;
  if (key === 'name' && !fits) return answer(await find(page, { records: (workspaces) => workspaces }));
  if (key === 'name') {
    const matches = await find(page, { records: withRuns(above), fits });
    return answer({ ...matches, items: matches.items.map(({ workspace }) => workspace) });
  }
  const { items, more } = await find({ page: 1, size: maxSorted }, { records: withRuns(above), fits });
  if (more) {
    throw badRequest(
      `sort: at most ${maxSorted} workspaces can be sorted by ${key}. Filter them, e.g. by project.`,
      'sort',
    );
  }
  const matching = items
    .map(({ workspace, run }) => ({ workspace, key: by(workspace, run) }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  if (descending) matching.reverse();
  // Workspaces without a run come last in both directions.
  matching.sort((a, b) => Number(a.key === '') - Number(b.key === ''));
  return { page, total: matching.length, workspaces: pageSlice(matching, page).map(({ workspace }) => workspace) };
};

export const answerWorkspaces =
  (above: WorkspaceDependencies) =>
  async (context: Context<InOrganization>): Promise<Answer> => {
    const { request, subject, principal } = context;
    const { page, total, workspaces } = await select(above, context);
    const granted = await principal.onWorkspaces(subject.organization, workspaces);
    const shown = workspaces.map((workspace) => ({ workspace, runId: currentRunId(workspace) }));
    const [related, upgradable] = await Promise.all([
      above.related(context, shown, granted),
      above.upgradable(workspaces),
    ]);
    const data = workspaces.map((workspace) =>
      withRelated(withUpgrade(workspaceDocument(workspace, granted(workspace.id)), upgradable), related),
    );
    return list(request, page, total, data, related?.included);
  };
