import type { Due } from '#platform/store/due.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { logInfo } from '#platform/store/log.ts';
import { batchGet, type Change, get, query, update } from '#platform/store/table.ts';
import { defaultOptions, type FetchRetry, type Phase, type Run } from '#run/run.ts';
import { finalStatuses, type PhaseStatus, partTimestampKey, type RunStatus, timestampKey } from '#run/status.ts';

type RunItem = Run & Key & Due;

const usual = { ...defaultOptions, workingDirectory: '', structuredOutput: false };

/** As JSON, by name: one has a list. */
const defaults = new Map(Object.entries(usual).map(([name, value]) => [name, JSON.stringify(value)]));

type Stamped = Pick<Phase, 'statusTimestamps'>;

/** In the item, timestamps of statuses are milliseconds since 1970: 8 instead of 24 bytes each, and a run has up to 16. */
const stampedAs = <T extends Stamped>(part: T, form: (at: string) => unknown): T => ({
  ...part,
  statusTimestamps: Object.fromEntries(Object.entries(part.statusTimestamps).map(([key, at]) => [key, form(at)])),
});

const isStamp = (path: string): boolean => /^((plan|apply)\.)?statusTimestamps\./.test(path);

/**
 * Attributes of a new item, without those that have their usual value: DynamoDB bills a write by the item's size, and so a
 * new run stays below 1 KB.
 */
export const itemOf = (run: Run): Record<string, unknown> => {
  const { plan, apply, ...rest } = stampedAs(run, Date.parse);
  const kept = Object.entries(rest).filter(([name, value]) => defaults.get(name) !== JSON.stringify(value));
  return { ...Object.fromEntries(kept), plan: stampedAs(plan, Date.parse), apply: stampedAs(apply, Date.parse) };
};

const shown = (at: string): string => new Date(at).toISOString();

/** Every reader of whole items calls this; others name the attributes that they read. */
export const runOf = <T extends Run>(item: T): T => ({
  ...usual,
  ...stampedAs(item, shown),
  plan: stampedAs(item.plan, shown),
  apply: stampedAs(item.apply, shown),
});

/** The item of a run whose creation came too late has no attributes of a run (lifecycle/queue/places.ts). */
const unlessVoided = <R extends Run>(item: R | undefined): R | undefined => (item?.id ? runOf(item) : undefined);

/** In the order of the ids; missing runs are left out. 1 read per 100. */
export const getRuns = async <R extends Run>(ids: string[]): Promise<R[]> =>
  (await batchGet<R & Key>(ids.map(keys.run))).flatMap((item) => unlessVoided(item) ?? []);

export const getRun = async (id: string): Promise<Run | undefined> => unlessVoided(await get<RunItem>(keys.run(id)));

/** Eventually consistent, for half the price: for callers that poll, or that decide with a conditional write. */
export const getRunEventually = async (id: string): Promise<Run | undefined> =>
  unlessVoided(await get<RunItem>(keys.run(id), false));

/** Newest first; `page` starts at 1. Reads the pointers and runs of that page only. */
export const listRuns = async (
  workspaceId: string,
  { page, size, total }: { page: number; size: number; total: number },
): Promise<Run[]> => {
  const newest = total - (page - 1) * size;
  if (newest < 1) return [];
  const pointers = await query<{ runId: string }>({
    pk: keys.workspace(workspaceId).pk,
    from: keys.runNumber(workspaceId, Math.max(1, newest - size + 1)).sk,
    to: keys.runNumber(workspaceId, newest).sk,
    reverse: true,
  });
  return getRuns(pointers.map(({ runId }) => runId));
};

const notFinal = (names: Record<string, string>, values: Record<string, unknown>): string => {
  names['#status'] = 'status';
  finalStatuses.forEach((status, i) => {
    values[`:final${i}`] = status;
  });
  return `attribute_exists(#status) AND NOT #status IN (${finalStatuses.map((_, i) => `:final${i}`).join(', ')})`;
};

/** Changes an open run with one conditional write; undefined when the run has ended, or `condition` fails. */
export const updateRun = async (id: string, change: Change): Promise<Run | undefined> => {
  const names = { ...change.names };
  const values = { ...change.values };
  const open = notFinal(names, values);
  // A change of the due time also sets the check time.
  const given: Change['set'] = change.set?.dueAt ? { checkAt: change.set.dueAt, ...change.set } : change.set;
  const set =
    given &&
    Object.fromEntries(
      Object.entries(given).map(([path, value]) => [path, isStamp(path) ? Date.parse(value as string) : value]),
    );
  const item = await update<RunItem>(keys.run(id), {
    ...change,
    set,
    names,
    values,
    condition: change.condition ? `${open} AND (${change.condition})` : open,
  });
  const run = item && runOf(item);
  if (run && set?.status) logInfo('run status', { runId: id, status: run.status });
  return run && set?.checkAt ? inTime(run) : run;
};

/** Moves the due time back if the sweep postponed it since the run was read. */
const inTime = async (run: RunItem): Promise<RunItem> => {
  const { checkAt, dueAt } = run;
  if (!checkAt || !dueAt || dueAt <= checkAt) return run;
  const moved = await update<RunItem>(keys.run(run.id), {
    set: { dueAt: checkAt },
    condition: 'checkAt = :checkAt AND dueAt > :checkAt',
    values: { ':checkAt': checkAt },
  });
  return moved ? runOf(moved) : run;
};

/** Shows why the run still waits for its commit. */
export const recordRetry = async (id: string, fetchRetry: FetchRetry): Promise<void> => {
  await updateRun(id, { set: { fetchRetry }, condition: 'status = :fetching', values: { ':fetching': 'fetching' } });
};

/** Attributes that set statuses and their timestamps; an existing timestamp never changes. */
export const statusChange = (
  to: { status: RunStatus; plan?: PhaseStatus; apply?: PhaseStatus; passed: readonly RunStatus[] },
  run: Pick<Run, 'statusTimestamps' | 'plan' | 'apply'>,
  at: string,
): Record<string, unknown> => {
  const set: Record<string, unknown> = { status: to.status };
  for (const status of [...to.passed, to.status]) {
    const key = timestampKey(status);
    if (!run.statusTimestamps[key]) set[`statusTimestamps.${key}`] = at;
  }
  for (const phase of ['plan', 'apply'] as const) {
    const status = to[phase];
    if (!status || status === run[phase].status) continue;
    set[`${phase}.status`] = status;
    // Skipped statuses have no timestamp.
    if (status === 'unreachable') continue;
    set[`${phase}.statusTimestamps.${status === 'running' ? 'started-at' : partTimestampKey(status)}`] = at;
  }
  return set;
};
