import { isFinalRun, type Resource, related } from '../../client/client.ts';
import { factsOf } from '../../client/run-facts.ts';
import { displayStatus, type Tone } from '../../run/display.ts';

/** Each workspace with the run it is processing, else its latest completed one. */

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
  /** The newest assessment of its health. */
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

/** Plan-only and saved plans pass the queue by. */
export const takesTurn = ({ attributes }: Resource<'runs'>): boolean =>
  !attributes['plan-only'] && !attributes['save-plan'];

const isSame = (one: Resource<'runs'> | undefined, other: Resource<'runs'>): boolean =>
  one?.id === other.id && JSON.stringify(one.attributes) === JSON.stringify(other.attributes);

/**
 * What an organization's open runs say of its workspaces, without asking for hundreds of them again.
 * @param open all runs that are not over
 * @returns the very same rows when nothing has changed; and the ids of runs that are over since
 */
export const withOpenRuns = (rows: Row[], open: Resource<'runs'>[]): { rows: Row[]; ended: string[] } => {
  const ids = new Set(open.map(({ id }) => id));
  const processed = new Map(
    open
      .filter((run) => takesTurn(run) && run.attributes.status !== 'pending')
      .map((run) => [related(run, 'workspace'), run]),
  );
  const ended: string[] = [];
  const now = rows.map((row) => {
    const run = processed.get(row.workspace.id);
    if (run) return isSame(row.run, run) ? row : rowOf(row.workspace, run, row.health);
    if (row.run && !isFinalRun(row.run) && !ids.has(row.run.id)) ended.push(row.run.id);
    return row;
  });
  return { rows: now.every((row, i) => row === rows[i]) ? rows : now, ended };
};
