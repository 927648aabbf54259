import { isFinalRun, type Resource, related } from '#clients/client/client.ts';
import { takesTurn } from './workspace-rows.ts';

/** Positions of runs in their workspaces' queues, and what each waits for. */

export interface QueueFacts {
  /** Runs; finished ones are ignored. */
  open: Resource<'runs'>[];
  workspaces: Map<string, Resource<'workspaces'>>;
}

export interface Wait {
  /** Counted from 1. */
  place: number;
  of: number;
  /** The run that holds the workspace's lock. */
  front?: Resource<'runs'>;
  /** Another holder of the lock: a user id, or the id of a run with an errored state. */
  heldBy?: string;
  reason?: string | null;
}

/** By run id, without runs that are about to start or do not queue. */
export const waitsOf = ({ open, workspaces }: QueueFacts): Map<string, Wait> => {
  const waitsByRun = new Map<string, Wait>();
  const turns = open.filter((run) => takesTurn(run) && !isFinalRun(run));
  for (const [id, runs] of Map.groupBy(turns, (run) => related(run, 'workspace') ?? '')) {
    const workspace = workspaces.get(id);
    const front = runs.find(({ attributes }) => attributes.status !== 'pending');
    const line = runs
      .filter(({ attributes }) => attributes.status === 'pending')
      .sort((a, b) => (a.attributes['created-at'] < b.attributes['created-at'] ? -1 : 1));
    const heldBy = workspace?.attributes.locked ? related(workspace, 'locked-by') : undefined;
    // A lock holder that is not in the list has just finished, unless the lock's reason names an errored state.
    const isHeld = heldBy?.startsWith('user-') || !workspace?.attributes['locked-reason']?.startsWith('Locked by Run');
    const why = front ? { front } : heldBy && isHeld ? { heldBy, reason: workspace?.attributes['locked-reason'] } : {};
    for (const [i, run] of line.entries()) waitsByRun.set(run.id, { place: i + 1, of: line.length, ...why });
  }
  return waitsByRun;
};
