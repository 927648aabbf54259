import { beginHidden, configurationOf, endHidden } from '#lifecycle/creation/hidden-runs.ts';
import { type NewRun, pendingRun, type RunHome } from '#lifecycle/creation/new-run.ts';
import { checkIn } from '#platform/store/due.ts';
import { newId } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { createLimited, type Limit } from '#platform/store/limited.ts';
import { create, put, queryAll, remove } from '#platform/store/table.ts';
import { expiryIn } from '#platform/store/time.ts';
import type { ConfigurationVersion } from '#resources/configurations/records.ts';
import { startExecution } from '#resources/runs/execution.ts';
import { getRun, getRuns, itemOf } from '#resources/runs/records.ts';
import { checkAdmitted } from '#resources/workspaces/admitted-runs.ts';
import { organizationOfNewRun } from '#resources/workspaces/drain.ts';
import { secondsIn } from '#run/limits.ts';
import type { Run } from '#run/run.ts';
import { useVersion } from '#version-control/use-version.ts';

/** Shared by test runs and query runs: lists of runs leave them out (run/hidden.ts), and they only plan. */

interface Pointer extends Key {
  runId: string;
}

/** Time for which they are listed. */
const keptSeconds = 90 * 24 * 3600;

type NewHiddenRun = Omit<NewRun, 'archive' | 'configurationVersionId' | 'structuredOutput'>;

interface Storing {
  version: ConfigurationVersion;
  /** Freezes the inputs of the run with this id. */
  freeze(id: string): Promise<string | undefined>;
  /** Key of the list entry. */
  pointer(createdAt: string, id: string): Key;
  limit: Limit;
}

/** Writes everything except the execution; it can be undone until the execution starts. */
const prepare = async (
  home: RunHome,
  options: NewHiddenRun,
  { version: requested, freeze, pointer }: Omit<Storing, 'limit'>,
): Promise<Run> => {
  const id = newId('run');
  const version = await useVersion(requested, id);
  const organization = await organizationOfNewRun(home.organization);
  const inputsKey = await freeze(id);
  const planTimeout = organization?.terraformBuildWorkerPlanTimeout;
  const run = await pendingRun(home, {
    ...options,
    id,
    planOnly: true,
    structuredOutput: true,
    inputsKey,
    ...configurationOf(version),
    ...(organization?.shownName ? { organizationName: organization.shownName } : {}),
    ...(planTimeout ? { timeLimits: { plan: secondsIn(planTimeout) } } : {}),
  });
  const expiresAt = expiryIn(keptSeconds, Date.parse(run.createdAt));
  await put({ ...pointer(run.createdAt, id), runId: id, expiresAt });
  await create({ ...keys.run(id), ...itemOf(run), expiresAt, ...checkIn(id, 60) });
  await beginHidden(run);
  return run;
};

/**
 * Freezes the inputs of the run, and starts it. 3 reads, 3 writes, 1 put with variables, 1 StartExecution.
 * @throws the limit's error when there are too many, and 409 if the organization's runs cannot start, or none can
 */
export const createHiddenRun = async (home: RunHome, options: NewHiddenRun, storing: Storing): Promise<Run> => {
  checkAdmitted(home);
  const takeBack = async (run: Run) => {
    await remove(keys.run(run.id));
    await remove(storing.pointer(run.createdAt, run.id));
    await endHidden(run);
  };
  const run = await createLimited(storing.limit, () => prepare(home, options, storing), takeBack);
  await startExecution(run);
  return run;
};

/** Finds the run by its id in the API, which shares the characters of the run's id. 1 read. */
export const getHiddenRun = async (prefix: 'trun' | 'query', id: string): Promise<Run | undefined> => {
  const [, actual, characters] = /^([a-z]+)-([A-Za-z0-9]{16})$/.exec(id) ?? [];
  return actual === prefix ? getRun(`run-${characters}`) : undefined;
};

/** Newest first. 1 query, and 1 read for the page. */
export const listHiddenRuns = async <R extends Run>(
  place: { pk: string; prefix: 'TEST#' | 'QUERY#' },
  { page, size }: { page: number; size: number },
): Promise<{ items: R[]; total: number }> => {
  const pointers = await queryAll<Pointer>({ ...place, reverse: true });
  const shown = pointers.slice((page - 1) * size, page * size);
  return { items: await getRuns<R>(shown.map(({ runId }) => runId)), total: pointers.length };
};
