import { limitOf } from '#features/hidden-runs/answers.ts';
import { createHiddenRun, getHiddenRun, listHiddenRuns } from '#features/hidden-runs/records.ts';
import { keys } from '#platform/store/keys.ts';
import { freezeVariables } from '#resources/runs/inputs.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import type { QueryRun } from './document.ts';
import type { NewQuery } from './input.ts';

/** Query runs: hidden runs with the workspace's variables and without its state. */

/** Freezes the inputs of the run, and starts it. */
export const createQueryRun = async (
  workspace: Workspace,
  { version, terraformVersion, variables, generatesConfiguration, source }: NewQuery,
  createdBy: string,
): Promise<QueryRun> => {
  const query = { generatesConfiguration };
  const run = await createHiddenRun(
    workspace,
    {
      message: '',
      variables,
      query,
      createdBy,
      source,
      terraformVersion,
    },
    {
      version,
      freeze: (id) => freezeVariables(workspace, id, variables),
      pointer: (createdAt, id) => keys.query(workspace.id, createdAt, id),
      limit: limitOf(workspace.organization, 'query runs'),
    },
  );
  return { ...run, query };
};

/** 1 read. */
export const getQueryRun = async (id: string): Promise<QueryRun | undefined> => {
  const run = await getHiddenRun('query', id);
  return run?.query ? (run as QueryRun) : undefined;
};

/** Newest first. 1 query, and 1 read for the page. */
export const listQueryRuns = (workspaceId: string, page: { page: number; size: number }) =>
  listHiddenRuns<QueryRun>({ pk: keys.workspace(workspaceId).pk, prefix: 'QUERY#' }, page);
