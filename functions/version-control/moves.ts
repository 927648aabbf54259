import { now } from '#platform/store/time.ts';
import { noteMove, type RepositoryTask } from './deliveries.ts';
import { tagsBranch } from './follows.ts';
import type { Handling } from './handling.ts';
import { addMove, getMove, type Move, recentMoves } from './repositories.ts';

/**
 * The order of a branch's commits. A webhook can arrive twice, late, out of order or never. Therefore each move of a
 * branch has a number, which one conditional write assigns to one delivery; if a push does not continue the last
 * move, the branch's commit is read from the forge.
 */

export type Moved = Move & { at: string };

const maxTries = 5;

export type PushTask = Extract<RepositoryTask, { kind: 'push' | 'tag' }>;
/** A push, or a tag with its commit. */
export type Pushed = PushTask & ({ kind: 'push' } | { sha: string });

/** Later than the previous move even if clocks differ, because newer versions must have later times. */
const timeAfter = (before: Move | undefined): string => {
  const at = (before as Moved | undefined)?.at;
  const present = now();
  return at && at >= present ? new Date(Date.parse(at) + 1).toISOString() : present;
};

/**
 * The branch's next position after the known moves, newest first; undefined when it has not moved. A former position
 * can come from an old delivery repeated under another id: a branch may return to it, but a tag is run only once.
 */
const next = async (
  { access, repository }: Handling,
  task: Pushed,
  moves: Move[],
): Promise<{ to: string; from?: string } | 'gone' | undefined> => {
  const [last] = moves;
  if (task.kind === 'tag') {
    return moves.some(({ to, tag }) => to === task.sha && tag === task.tag) ? undefined : { to: task.sha };
  }
  if (last?.to === task.after) return undefined;
  if (!last) return { to: task.after };
  const isNew = moves.every(({ to }) => to !== task.after);
  if (isNew && last.to === task.before) return { to: task.after, from: task.forced ? undefined : last.to };
  const head = await access.forge.branch(access.call, repository.identifier, task.branch);
  if (!head) return 'gone';
  if (head === last.to) return undefined;
  return { to: head, from: head === task.after && task.forced ? undefined : last.to };
};

/**
 * Assigns the next number to a push. The same delivery always gets the same one.
 * @param repeat returns the last move if the branch has not moved
 */
export const moveBranch = async (
  handling: Handling,
  task: Pushed,
  { repeat = false } = {},
): Promise<Moved | 'duplicate' | 'gone'> => {
  const { delivery, repository } = handling;
  const branch = task.kind === 'tag' ? tagsBranch : task.branch;
  if (delivery.n !== undefined) {
    const mine = await getMove(repository.id, branch, delivery.n);
    if (mine?.by === delivery.id) return mine as Moved;
  }
  for (let i = 0; i < maxTries; i++) {
    const moves = await recentMoves(repository.id, branch);
    const [last] = moves;
    const wanted = await next(handling, task, moves);
    if (wanted === 'gone') return 'gone';
    if (!wanted) return repeat && last ? (last as Moved) : 'duplicate';
    const move: Moved = {
      ...wanted,
      n: (last?.n ?? 0) + 1,
      branch,
      by: delivery.id,
      at: timeAfter(last),
      ...(task.kind === 'tag' ? { tag: task.tag } : {}),
    };
    // Stored first, so that a repeated delivery finds its own move even after later ones.
    await noteMove(delivery, move.n);
    if (await addMove(repository.id, move)) return move;
  }
  throw new Error(`branch ${branch} of ${repository.id} changed during every attempt`);
};
