import { now } from '../store/time.ts';
import { noteMove, type RepositoryTask } from './deliveries.ts';
import { tagsBranch } from './follows.ts';
import type { Handling } from './handling.ts';
import { addMove, getMove, type Move, recentMoves } from './repositories.ts';

/**
 * In which order a branch's commits count. A webhook may come twice, late, out of order or never: each move of a branch has
 * a number, which one conditional write gives to one delivery; and what does not continue the last move has the forge say
 * where the branch is.
 */

export type Moved = Move & { at: string };

const maxTries = 5;

type Pushed = Extract<RepositoryTask, { kind: 'push' | 'tag' }>;

/** Later than the one before, whatever clocks say: newer versions have later times. */
const timeAfter = (before: Move | undefined): string => {
  const at = (before as Moved | undefined)?.at;
  const present = now();
  return at && at >= present ? new Date(Date.parse(at) + 1).toISOString() : present;
};

/**
 * What the branch moves to, after the moves that are known, the newest first; undefined when it has not moved. What it moved to
 * before may be an old delivery that comes again under another id: a branch may be there again, a tag is run once.
 */
const next = async (
  { access, repository }: Handling,
  matter: Pushed,
  moves: Move[],
): Promise<{ to: string; from?: string } | 'gone' | undefined> => {
  const [last] = moves;
  if (matter.kind === 'tag') {
    return moves.some(({ to, tag }) => to === matter.sha && tag === matter.tag) ? undefined : { to: matter.sha };
  }
  if (last?.to === matter.after) return undefined;
  if (!last) return { to: matter.after };
  const isNew = moves.every(({ to }) => to !== matter.after);
  if (isNew && last.to === matter.before) return { to: matter.after, from: matter.forced ? undefined : last.to };
  const head = await access.forge.branch(access.call, repository.identifier, matter.branch);
  if (!head) return 'gone';
  if (head === last.to) return undefined;
  return { to: head, from: head === matter.after && matter.forced ? undefined : last.to };
};

/**
 * Gives what was pushed its number. The same delivery gets the same one again.
 * @param repeat take the last move for what has not moved
 */
export const moveBranch = async (
  handling: Handling,
  matter: Pushed,
  { repeat = false } = {},
): Promise<Moved | 'duplicate' | 'gone'> => {
  const { delivery, repository } = handling;
  const branch = matter.kind === 'tag' ? tagsBranch : matter.branch;
  if (delivery.n !== undefined) {
    const mine = await getMove(repository.id, branch, delivery.n);
    if (mine?.by === delivery.id) return mine as Moved;
  }
  for (let i = 0; i < maxTries; i++) {
    const moves = await recentMoves(repository.id, branch);
    const [last] = moves;
    const wanted = await next(handling, matter, moves);
    if (wanted === 'gone') return 'gone';
    if (!wanted) return repeat && last ? (last as Moved) : 'duplicate';
    const move: Moved = {
      ...wanted,
      n: (last?.n ?? 0) + 1,
      branch,
      by: delivery.id,
      at: timeAfter(last),
      ...(matter.kind === 'tag' ? { tag: matter.tag } : {}),
    };
    // First, so that a delivery that was cut off knows its own move when others came after it.
    await noteMove(delivery, move.n);
    if (await addMove(repository.id, move)) return move;
  }
  throw new Error(`branch ${branch} of ${repository.id} moves all the time`);
};
