import { type Key, keys } from '#platform/store/keys.ts';
import { type Paging, type ScanResult, scan } from '#platform/store/scan.ts';
import { query, queryAll } from '#platform/store/table.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import type { RunOperation } from '#run/operation.ts';
import type { Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';
import { getRuns, listRuns } from './records.ts';

/**
 * Lists of runs, newest first. Pointers repeat the attributes of a run that never change, some 200 bytes each. The
 * runs themselves are read only for filters on changing attributes, and for the page.
 */

export interface RunPointer extends Key {
  runId: string;
  workspaceId: string;
  operation: RunOperation;
  source: string;
  /** A run of an environment or a template, whose own views show it. */
  managed?: true;
}

export interface RunFilter {
  /** Whether the run can match, judged by its pointer. */
  mayFit(pointer: RunPointer): boolean;
  /** Absent when the pointer decides. */
  fits?(run: Run): boolean;
  /** The pointers that the caller may see; absent: all. */
  visible?(pointers: RunPointer[]): Promise<RunPointer[]>;
  /** Only open runs can match. */
  open: boolean;
  /** Creation times, inclusive; for lists of an organization. */
  from?: string;
  to?: string;
}

export type RunPage = ScanResult<Run>;

const shown = async (pointers: RunPointer[], visible: RunFilter['visible']): Promise<RunPointer[]> =>
  visible ? visible(pointers) : pointers;

const scanned = (
  pk: string,
  { mayFit, fits, visible }: RunFilter,
  paging: Paging,
  { from = '', to = '~' }: { from?: string; to?: string } = {},
): Promise<RunPage> => {
  let after: string | undefined;
  const read = async (limit: number): Promise<RunPointer[]> => {
    const range = { pk, from: `RUN#${from}`, to: `RUN#${to}`, after, reverse: true, limit };
    const pointers = await query<RunPointer>(range);
    after = pointers.at(-1)?.sk ?? after;
    return pointers;
  };
  const narrow = async (pointers: RunPointer[]) => shown(pointers.filter(mayFit), visible);
  const records = (pointers: RunPointer[]) => getRuns(pointers.map(({ runId }) => runId));
  return scan({ read, narrow, records, fits }, paging);
};

const openPointers = (organization: string): Promise<RunPointer[]> =>
  queryAll<RunPointer>({ pk: keys.organization(organization).pk, prefix: 'OPEN#', reverse: true });

const isOpen = (run: Run): boolean => !isFinal(run.status);

/** Open runs of the organization, newest first, from which its queue and its capacity are computed. */
export const listOpenRuns = async (organization: string, visible?: RunFilter['visible']): Promise<Run[]> => {
  const pointers = await shown(await openPointers(organization), visible);
  return (await getRuns(pointers.map(({ runId }) => runId))).filter(isOpen);
};

const pageOfOpen = async (pointers: RunPointer[], filter: RunFilter, { page, size }: Paging): Promise<RunPage> => {
  const ids = (await shown(pointers.filter(filter.mayFit), filter.visible)).map(({ runId }) => runId);
  const { fits = () => true } = filter;
  const runs = (await getRuns(ids)).filter((run) => isOpen(run) && fits(run));
  const items = runs.slice((page - 1) * size, page * size);
  return { items, total: runs.length, more: runs.length > page * size };
};

/** All runs except plan-only ones: the default list (HCP API: runs, list). */
export const listAppliableRuns = async (workspace: Workspace, paging: Paging): Promise<RunPage> => {
  const { runCount, planOnlyCount = 0 } = workspace;
  const total = runCount - planOnlyCount;
  const more = total > paging.page * paging.size;
  if (planOnlyCount === 0) return { items: await listRuns(workspace.id, { ...paging, total }), total, more };
  const filter = { mayFit: ({ operation }: RunPointer) => operation !== 'plan_only', open: false };
  return { ...(await findRuns(workspace, filter, paging)), total, more };
};

/** Matching runs of the workspace. */
export const findRuns = async (workspace: Workspace, filter: RunFilter, paging: Paging): Promise<RunPage> => {
  if (!filter.open) return scanned(keys.workspace(workspace.id).pk, filter, paging);
  const pointers = await openPointers(workspace.organization);
  return pageOfOpen(
    pointers.filter(({ workspaceId }) => workspaceId === workspace.id),
    filter,
    paging,
  );
};

/** Matching runs in all workspaces of the organization. */
export const findOrganizationRuns = async (
  organization: string,
  filter: RunFilter,
  paging: Paging,
): Promise<RunPage> =>
  filter.open
    ? pageOfOpen(await openPointers(organization), filter, paging)
    : scanned(keys.organization(organization).pk, filter, paging, filter);
