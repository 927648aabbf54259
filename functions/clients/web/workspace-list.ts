import type { Resource } from '#clients/client/client.ts';
import { knowPeople } from './parts/person.tsx';
import { all, call, get, related } from './session.ts';
import { type Row, rowOf, withOpenRuns } from './text/workspace-rows.ts';

/** Reads a workspace list with one request per hundred; between full reads, unfinished runs show the changes. */

/** Page size. */
const atOnce = 100;
const wholeEveryMs = 60_000;

const readAll = async (organization: string, managed: boolean): Promise<Row[]> => {
  const filter = managed ? '' : '&filter[managed]=false';
  const { data, included } = await all<'workspaces'>(
    `/organizations/${organization}/workspaces?include=current_run,current_assessment_result${filter}`,
  );
  const above = new Map(included.map((resource) => [resource.id, resource]));
  const one = (workspace: Resource, name: string) => above.get(related(workspace, name) ?? '');
  return data.map((workspace) =>
    rowOf(workspace, one(workspace, 'current-run'), one(workspace, 'current-assessment-result')),
  );
};

const refreshed = async (organization: string, rows: Row[]): Promise<Row[]> => {
  const path = `/organizations/${organization}/runs?filter[status_group]=non_final&filter[managed]=true&include=created_by&page[size]=${atOnce}`;
  const { data, included } = await call<Resource[]>('GET', path);
  knowPeople(included);
  const merged = withOpenRuns(rows, data);
  // Beyond one page, a missing run may still be unfinished: read the whole list.
  if (merged.ended.length === 0 || data.length === atOnce) return merged.rows;
  const ended = new Map(
    await Promise.all(
      merged.ended.map(async (id): Promise<[string, Resource<'runs'>]> => [id, await get(`/runs/${id}`)]),
    ),
  );
  return merged.rows.map((row) => {
    const run = ended.get(row.run?.id ?? '');
    return run ? rowOf(row.workspace, run, row.health) : row;
  });
};

/**
 * @param managed with the workspaces of environments and templates
 * @returns a function that reads the current list of an organization
 */
export const workspaceList = (organization: string, managed = false): (() => Promise<Row[]>) => {
  let rows: Row[] | undefined;
  let wholeAt = 0;
  return async () => {
    if (rows && rows.length > atOnce && Date.now() - wholeAt < wholeEveryMs) {
      rows = await refreshed(organization, rows);
      return rows;
    }
    rows = await readAll(organization, managed);
    wholeAt = Date.now();
    return rows;
  };
};
