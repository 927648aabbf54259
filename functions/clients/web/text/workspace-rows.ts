import { isFinalRun, type Resource, related } from '#clients/client/client.ts';
import { factsOf, mayDecide } from '#clients/client/run-facts.ts';
import { problemsOf } from '#clients/client/text/health.ts';
import { displayStatus, type Tone } from '#run/display.ts';

/** Workspaces with their run in progress, or else their latest completed run. */

export type Group = 'attention' | 'bad' | 'running' | 'good' | 'idle';

const groups: Record<Tone, Group> = {
  attention: 'attention',
  running: 'running',
  waiting: 'running',
  bad: 'bad',
  good: 'good',
  neutral: 'idle',
};

export interface Row {
  workspace: Resource<'workspaces'>;
  run: Resource<'runs'> | undefined;
  group: Group;
  /** The latest health assessment. */
  health: Resource<'assessment-results'> | undefined;
}

export const rowOf = (
  workspace: Resource<'workspaces'>,
  run: Resource<'runs'> | undefined,
  health?: Row['health'],
): Row => ({
  workspace,
  health,
  run,
  group: run ? groups[displayStatus(factsOf(run)).tone] : 'idle',
});

/** Waiting for this reader, waiting, failed, drifted or failing checks, running, the rest. @returns 0 for the most urgent */
export const urgencyOf = ({ group, run, health }: Row): number => {
  if (group === 'attention') return run && mayDecide(run) ? 0 : 1;
  if (group === 'bad') return 2;
  if (problemsOf(health, run).length > 0) return 3;
  return group === 'running' ? 4 : 5;
};

/** Plan-only and saved plans bypass the queue. */
export const takesTurn = ({ attributes }: Resource<'runs'>): boolean =>
  !attributes['plan-only'] && !attributes['save-plan'];

const isSame = (run: Resource<'runs'> | undefined, other: Resource<'runs'>): boolean =>
  run?.id === other.id && JSON.stringify(run.attributes) === JSON.stringify(other.attributes);

/**
 * Updates workspace rows from the organization's unfinished runs, without reading hundreds of workspaces again.
 * @param open all unfinished runs
 * @returns the same array when nothing has changed; and the ids of runs that finished since
 */
export const withOpenRuns = (rows: Row[], open: Resource<'runs'>[]): { rows: Row[]; ended: string[] } => {
  const ids = new Set(open.map(({ id }) => id));
  const processed = new Map(
    open
      .filter((run) => takesTurn(run) && run.attributes.status !== 'pending')
      .map((run) => [related(run, 'workspace'), run]),
  );
  const finishedIds: string[] = [];
  const updated = rows.map((row) => {
    const run = processed.get(row.workspace.id);
    if (run) return isSame(row.run, run) ? row : rowOf(row.workspace, run, row.health);
    if (row.run && !isFinalRun(row.run) && !ids.has(row.run.id)) finishedIds.push(row.run.id);
    return row;
  });
  return { rows: updated.every((row, i) => row === rows[i]) ? rows : updated, ended: finishedIds };
};
