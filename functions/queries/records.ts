import { defaultOptions } from '../orchestration/create-run.ts';
import { enqueue, pendingIn } from '../orchestration/new-run.ts';
import { getOrganization } from '../people/organizations/records.ts';
import { secondsIn } from '../run/limits.ts';
import { freezeVariables } from '../runs/inputs.ts';
import { getRun } from '../runs/records.ts';
import { dueIn } from '../store/due.ts';
import { newId } from '../store/id.ts';
import { type Key, keys } from '../store/keys.ts';
import { batchGet, create, put, queryAll } from '../store/table.ts';
import { now } from '../store/time.ts';
import type { Workspace } from '../workspaces/records.ts';
import type { QueryRun } from './document.ts';
import type { NewQuery } from './input.ts';

/**
 * Query runs: runs that lists of runs leave out (run/hidden.ts), with the workspace's variables and without its state.
 */

interface Pointer extends Key {
  runId: string;
}

/** How long they are listed. */
const keptSeconds = 90 * 24 * 3600;

/** Freezes the inputs of the run, and starts it. */
export const createQueryRun = async (
  workspace: Workspace,
  { version, terraformVersion, variables, generatesConfiguration, source }: NewQuery,
  createdBy: string,
): Promise<QueryRun> => {
  const id = newId('run');
  const createdAt = now();
  const [inputsKey, pending, home] = await Promise.all([
    freezeVariables(workspace, id, variables),
    pendingIn(workspace, createdAt),
    getOrganization(workspace.organization),
  ]);
  const plan = home?.terraformBuildWorkerPlanTimeout;
  const run: QueryRun = {
    ...defaultOptions,
    ...pending,
    id,
    number: 0,
    message: '',
    variables,
    planOnly: true,
    autoApply: false,
    query: { generatesConfiguration },
    configurationVersionId: version.id,
    archive: version.archive,
    createdBy,
    source,
    structuredOutput: true,
    terraformVersion,
    inputsKey,
    ...(plan ? { timeLimits: { plan: secondsIn(plan) } } : {}),
  };
  const expiresAt = Math.floor(Date.parse(createdAt) / 1000) + keptSeconds;
  await put({ ...keys.query(workspace.id, createdAt, id), runId: id, expiresAt });
  await create({ ...keys.run(id), ...run, expiresAt, ...dueIn(id, 60) });
  await enqueue(run);
  return run;
};

/** 1 read. */
export const getQueryRun = async (id: string): Promise<QueryRun | undefined> => {
  const [, characters] = /^query-([A-Za-z0-9]{16})$/.exec(id) ?? [];
  const run = characters ? await getRun(`run-${characters}`) : undefined;
  return run?.query ? (run as QueryRun) : undefined;
};

/** Newest first. 1 query, and 1 read for the page. */
export const listQueryRuns = async (
  workspaceId: string,
  { page, size }: { page: number; size: number },
): Promise<{ items: QueryRun[]; total: number }> => {
  const pointers = await queryAll<Pointer>({ pk: keys.workspace(workspaceId).pk, prefix: 'QUERY#', reverse: true });
  const shown = pointers.slice((page - 1) * size, page * size);
  return { items: await batchGet<QueryRun & Key>(shown.map(({ runId }) => keys.run(runId))), total: pointers.length };
};
