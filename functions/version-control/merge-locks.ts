import { keys } from '#platform/store/keys.ts';
import { update } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import type { Workspace } from '#resources/workspaces/records.ts';

/**
 * Locks of pull requests that were applied before their merge. Until the pull request is merged, closed or released, no
 * other pull request is applied to its workspaces, and pushes start no run there, because it would undo the unmerged
 * changes.
 */

interface Holder {
  repository: string;
  number: number;
}

export const isHeldBy = ({ vcsPull }: Pick<Workspace, 'vcsPull'>, { repository, number }: Holder): boolean =>
  vcsPull?.repository === repository && vcsPull.number === number;

const held = 'vcsPull.repository = :repository AND vcsPull.#number = :number';

/**
 * Locks the workspace for a pull request. Can be repeated by the same pull request.
 * @returns undefined when another pull request holds the lock, or the workspace follows another repository
 */
export const hold = (id: string, { repository, number }: Holder, by: string): Promise<Workspace | undefined> =>
  update<Workspace>(keys.workspace(id), {
    set: { vcsPull: { repository, number, by, at: now() } },
    condition: `attribute_not_exists(deletedAt) AND vcsRepo.repository = :repository AND (attribute_not_exists(vcsPull) OR vcsPull.repository <> :repository OR (${held}))`,
    names: { '#number': 'number' },
    values: { ':repository': repository, ':number': number },
  });

/** Can be repeated. */
export const release = async (id: string, { repository, number }: Holder): Promise<void> => {
  await update(keys.workspace(id), {
    remove: ['vcsPull'],
    condition: held,
    names: { '#number': 'number' },
    values: { ':repository': repository, ':number': number },
  });
};
