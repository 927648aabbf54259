import { ApiError } from '#api/errors.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import { finalizeStateVersion } from './finalize.ts';
import { isAwaited, latestPending } from './history.ts';

/**
 * An uploaded state becomes current before its writer lets go of the workspace; after that it never could.
 * @throws {ApiError} 422 while a state that was announced under this lock is awaited
 */
export const settleState = async (workspace: Workspace): Promise<void> => {
  const pending = await latestPending(workspace.id);
  if (!pending) return;
  const version = await finalizeStateVersion(pending);
  // One that was announced under an earlier lock was given up with that.
  const isOfThisLock = !workspace.lock || version.createdAt >= workspace.lock.at;
  if (isOfThisLock && isAwaited(version)) {
    // Clients look for these words and try again.
    throw new ApiError(422, [
      { title: 'latest state version is still pending', detail: 'Its content has not been uploaded yet.' },
    ]);
  }
};
