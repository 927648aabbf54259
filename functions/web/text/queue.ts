import { isFinalRun, type Resource, related } from '../../client/client.ts';
import { takesTurn } from './workspace-rows.ts';

/** Place of runs in the queues of their workspaces, and what each waits for. */

export interface QueueFacts {
  /** Runs, of which those that are not over count. */
  open: Resource<'runs'>[];
  workspaces: Map<string, Resource<'workspaces'>>;
}

export interface Wait {
  /** From 1. */
  place: number;
  of: number;
  /** The run that holds the workspace. */
  front?: Resource<'runs'>;
  /** Who or what else holds it: the id of a user, or of a run that has left its state behind. */
  heldBy?: string;
  reason?: string | null;
}

/** By id of the run; nothing for one that is about to start or does not take turns. */
export const waitsOf = ({ open, workspaces }: QueueFacts): Map<string, Wait> => {
  const waits = new Map<string, Wait>();
  const turns = open.filter((run) => takesTurn(run) && !isFinalRun(run));
  for (const [id, runs] of Map.groupBy(turns, (run) => related(run, 'workspace') ?? '')) {
    const workspace = workspaces.get(id);
    const front = runs.find(({ attributes }) => attributes.status !== 'pending');
    const line = runs
      .filter(({ attributes }) => attributes.status === 'pending')
      .sort((a, b) => (a.attributes['created-at'] < b.attributes['created-at'] ? -1 : 1));
    const heldBy = workspace?.attributes.locked ? related(workspace, 'locked-by') : undefined;
    // A run that holds the workspace without being among them has just ended, unless the lock says what it left behind.
    const held = heldBy?.startsWith('user-') || !workspace?.attributes['locked-reason']?.startsWith('Locked by Run');
    const why = front ? { front } : heldBy && held ? { heldBy, reason: workspace?.attributes['locked-reason'] } : {};
    for (const [i, run] of line.entries()) waits.set(run.id, { place: i + 1, of: line.length, ...why });
  }
  return waits;
};
