import { copyObject, peekObject } from '#platform/store/bucket.ts';
import { objects } from '#platform/store/keys.ts';
import { appliedChanges } from '#resources/runs/applied-changes.ts';
import { hasLastState } from '#resources/states/snapshots.ts';
import { getWorkspace } from '#resources/workspaces/records.ts';
import type { Run } from '#run/run.ts';
import { covers, lostState, type StateIdentity, type UnsavedState } from '#run/state-identity.ts';

/**
 * States of applies that could not be saved as state versions. A runner uploads such a state to a key that users
 * cannot read. After the runner has stopped, the state is copied to a key that users can read; later uploads do not
 * change the copy.
 */

/** Terraform writes serial and lineage before any long content. */
const headBytes = 4096;

const identify = (head: string): Omit<UnsavedState, 'runId'> | undefined => {
  const serial = /"serial":\s*(\d{1,15})\b/.exec(head)?.[1];
  const lineage = /"lineage":\s*"([^"]{1,200})"/.exec(head)?.[1];
  return serial && lineage ? { serial: Number(serial), lineage } : undefined;
};

/**
 * Keeps the apply's last state if the workspace does not have it, or records that it is lost. After a loss, resources
 * may exist that no state contains. Call it after the runner has stopped. Idempotent. 2 reads, and 1 copy of a state
 * that is kept; for a lost state 2 more reads, and the log.
 */
export const findUnsaved = async (run: Run): Promise<Run['unsaved']> => {
  const { id, workspaceId, apply } = run;
  const left = objects.leftState(id);
  const [object, workspace] = await Promise.all([peekObject(left, headBytes), getWorkspace(workspaceId)]);
  const identity = apply.report?.unsavedState ?? (object && identify(object.head.toString('utf8')));
  if (!identity) return (await isLost(run)) ? lost(run, workspace?.state) : undefined;
  if (covers(workspace?.state, { runId: id, ...identity })) return undefined;
  const copy = object?.size ? object.etag.replaceAll(/\W/g, '') : undefined;
  const sha256 = copy && (await copyObject(left, objects.erroredState(workspaceId, id, copy), object?.etag));
  return { runId: id, ...identity, ...(sha256 ? { stored: true, copy, sha256 } : { stored: false }) };
};

/** Whether the apply may have made changes that no state contains. */
const isLost = async (run: Run): Promise<boolean> => {
  const { report } = run.apply;
  if (report && !report.lost) return report.unrecorded !== undefined;
  return !(await hasLastState(run));
};

const lost = async (run: Run, state: StateIdentity | undefined): Promise<Run['unsaved']> => {
  const open = run.apply.report?.unrecorded;
  const changes = open ? { done: [], open } : await appliedChanges(run);
  return { ...lostState(run.id, state), stored: false, changes };
};
