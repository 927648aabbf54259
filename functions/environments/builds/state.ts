import { lockWorkspace, unlockWorkspace } from '#lifecycle/queue/locks.ts';
import { InvalidStateError, parseState } from '#resources/states/content.ts';
import { readState } from '#resources/states/integrity.ts';
import { getStateVersion } from '#resources/states/records.ts';
import { addState } from '#resources/states/rollback.ts';
import { withSerial } from '#resources/states/serial.ts';
import { lockReason } from '#resources/workspaces/document.ts';
import { getWorkspace, type Workspace } from '#resources/workspaces/records.ts';
import { CoderError } from '../host/errors.ts';
import type { Build } from './records.ts';

/** States that users read and replace. */

/** @throws {CoderError} 400 for an invalid state */
export const checkState = (bytes: Buffer): void => {
  try {
    parseState(bytes);
  } catch (error) {
    if (error instanceof InvalidStateError) throw new CoderError(400, 'The state is not valid.', error.message);
    throw error;
  }
};

/** The state of a build; for the latest build, the workspace's current state. Empty when there is none. */
export const readBuildState = async (build: Build, workspace: Workspace | undefined): Promise<Buffer> => {
  const id = workspace ? workspace.state?.id : build.stateVersionId;
  const version = id === undefined ? undefined : await getStateVersion(id);
  return (version && (await readState(version))) ?? Buffer.alloc(0);
};

/**
 * Replaces the workspace's state. The content becomes a new version with the next serial, regardless of its own serial
 * and lineage.
 * @throws {CoderError} 409 when the workspace is locked
 */
export const putState = async (workspaceId: string, userId: string, content: Buffer): Promise<string> => {
  const workspace = await lockWorkspace(workspaceId, userId, 'A state is pushed');
  if (!workspace) throw await lockedBy(workspaceId);
  try {
    const { lineage, serial: own } = parseState(content);
    const serial = Math.max(own, (workspace.state?.serial ?? 0) + 1);
    const bytes = withSerial(content, serial);
    const result = await addState(bytes, { workspace, userId, serial, lineage });
    if ('conflict' in result) throw new CoderError(409, result.conflict);
    return result.stateVersion.id;
  } finally {
    await unlockWorkspace(workspaceId, userId);
  }
};

export const lockedBy = async (workspaceId: string): Promise<CoderError> => {
  const workspace = await getWorkspace(workspaceId);
  const { lock } = workspace ?? {};
  if (lock?.unsaved) return new CoderError(409, `Workspace ${workspace?.name} is locked. ${lockReason(lock)}`);
  const why = lock?.kind === 'user' ? `by a user (${lock.reason || 'no reason given'})` : 'by a run';
  return new CoderError(409, `Workspace ${workspace?.name} is locked ${why}. Unlock it first.`);
};
