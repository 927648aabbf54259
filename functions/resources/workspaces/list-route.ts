import type { Answer } from '#api/answer.ts';
import { badRequest } from '#api/errors.ts';
import { list, type Page, pageOf, pageSlice, totalOf } from '#api/pagination.ts';
import type { ApiRequest } from '#api/request.ts';
import type { Context } from '#api/route.ts';
import type { InOrganization } from '#resources/organizations/finder.ts';
import type { Run } from '#run/run.ts';
import { currentRunId, latestChangeAt, workspaceDocument } from './document.ts';
import { readWorkspaceFilter } from './filter.ts';
import { findWorkspaces, listByChange, listWorkspaces } from './lists.ts';
import type { Workspace } from './records.ts';
import { type WorkspaceDependencies, withRelated, withUpgrade } from './related.ts';

const runsOf = async ({ getRuns }: WorkspaceDependencies, workspaces: Workspace[]): Promise<Map<string, Run>> => {
  const ids = workspaces.map(currentRunId).filter((id) => id !== undefined);
  return new Map((await getRuns(ids)).map((run) => [run.id, run]));
};

interface WithRun {
  workspace: Workspace;
  /** Read only where the order or the filter needs it. */
  run?: Run;
}

interface Order {
  /** In the words of the parameter `sort`. */
  name: 'name' | 'current-run.created-at' | 'latest-change-at';
  descending: boolean;
}

const keyIn: Record<Order['name'], (found: WithRun) => string> = {
  name: ({ workspace }) => workspace.name,
  'current-run.created-at': ({ run }) => run?.createdAt ?? '',
  'latest-change-at': ({ workspace }) => latestChangeAt(workspace),
};

const orderOf = ({ query }: ApiRequest): Order => {
  const sort = query.get('sort') || 'name';
  const name = sort.replace(/^-/, '');
  if (!Object.hasOwn(keyIn, name)) {
    throw badRequest(
      `Invalid sort parameter. Supported: ${Object.keys(keyIn).join(', ')}, each also with the prefix "-".`,
      'sort',
    );
  }
  return { name: name as Order['name'], descending: sort.startsWith('-') };
};

/** Maximum number of workspaces that are sorted here, for which every record is read. */
const maxSorted = 2000;

/** Workspaces without a key come last in both directions. */
const sorted = (found: WithRun[], { name, descending }: Order): WithRun[] => {
  const keyed = found.map((one) => ({ one, key: keyIn[name](one) }));
  const direction = descending ? -1 : 1;
  keyed.sort((a, b) =>
    a.key === '' || b.key === ''
      ? Number(a.key === '') - Number(b.key === '')
      : direction * (Number(a.key > b.key) - Number(a.key < b.key)),
  );
  return keyed.map(({ one }) => one);
};

interface Selected {
  page: Page;
  total: number;
  workspaces: Workspace[];
}

/**
 * Reads the records of the page. A filter by run status reads on until the page is full. An order by the current run, or by
 * the latest change with a filter or a part of the organization, reads every match.
 */
const select = async (
  above: WorkspaceDependencies,
  { request, subject, principal, granted: everywhere }: Context<InOrganization>,
): Promise<Selected> => {
  const { organization, record } = subject;
  const within = await principal.reach(organization, 'workspace:read');
  const page = pageOf(request);
  const order = orderOf(request);
  const byName = order.name === 'name';
  const inStore = byName ? listWorkspaces : order.name === 'latest-change-at' ? listByChange : undefined;
  const { plain, statuses, managed, ...filter } = readWorkspaceFilter(request);
  if (managed && !record.hasTemplates) return { page, total: 0, workspaces: [] };
  // Others do not see the workspaces of environments.
  const seesAll = !within && everywhere.has('run:apply');
  const isAny = plain && (managed === undefined || !record.hasTemplates);
  if (inStore && isAny && seesAll) {
    const { items, total, more } = await inStore(record, page, order.descending);
    return { page, total: totalOf(page, total, more), workspaces: items };
  }

  const needsRuns = statuses.length > 0 || order.name === 'current-run.created-at';
  const records = async (workspaces: Workspace[]): Promise<WithRun[]> => {
    const granted = await principal.onWorkspaces(organization, workspaces);
    const visible = workspaces.filter(({ id }) => granted(id).has('workspace:read'));
    const runs = needsRuns ? await runsOf(above, visible) : undefined;
    return visible.map((workspace) => ({ workspace, run: runs?.get(currentRunId(workspace) ?? '') }));
  };
  const { items, total, more } = await findWorkspaces<WithRun>(
    organization,
    { ...filter, within, descending: byName && order.descending },
    byName ? page : { page: 1, size: maxSorted },
    { records, fits: statuses.length > 0 ? ({ run }) => statuses.includes(run?.status ?? '') : undefined },
  );
  if (byName) return { page, total: totalOf(page, total, more), workspaces: items.map(({ workspace }) => workspace) };
  if (more) {
    throw badRequest(
      `sort: at most ${maxSorted} workspaces can be sorted by ${order.name}. Filter them, e.g. by project.`,
      'sort',
    );
  }
  const workspaces = pageSlice(sorted(items, order), page).map(({ workspace }) => workspace);
  return { page, total: items.length, workspaces };
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
