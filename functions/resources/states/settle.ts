import { ApiError } from '#api/errors.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import { finalizeStateVersion } from './finalize.ts';
import { isAwaited, latestStateVersion } from './history.ts';

/**
 * Finalizes an uploaded state before its writer unlocks the workspace, because afterwards it could no longer become
 * current.
 * @throws {ApiError} 422 while an upload announced under this lock is pending
 */
export const settleState = async (workspace: Workspace): Promise<void> => {
  const latest = await latestStateVersion(workspace.id);
  if (!latest) return;
  const version = await finalizeStateVersion(latest);
  // A version announced under an earlier lock was abandoned with that lock.
  const isOfThisLock = !workspace.lock || version.createdAt >= workspace.lock.at;
  if (isOfThisLock && isAwaited(version)) {
    // Clients match these words and retry.
    throw new ApiError(422, [
      { title: 'latest state version is still pending', detail: 'Its content has not been uploaded yet.' },
    ]);
  }
};
