import type { Run } from '../run/run.ts';
import { covers, type UnsavedState } from '../run/state-identity.ts';
import { copyObject, peekObject } from '../store/bucket.ts';
import { objects } from '../store/keys.ts';
import { getWorkspace } from '../workspaces/records.ts';

/**
 * States of applies that could not become their workspaces'. A runner leaves one in a place that nobody reads from;
 * when it is known to be gone, what lies there then is taken to where people find it. What comes later has no effect.
 */

/** Terraform writes serial and lineage before anything that can be long. */
const headBytes = 4096;

const identify = (head: string): Omit<UnsavedState, 'runId'> | undefined => {
  const serial = /"serial":\s*(\d{1,15})\b/.exec(head)?.[1];
  const lineage = /"lineage":\s*"([^"]{1,200})"/.exec(head)?.[1];
  return serial && lineage ? { serial: Number(serial), lineage } : undefined;
};

/**
 * What a run's apply recorded and its workspace does not know. To be called when its runner is gone. May be repeated.
 * 2 reads, and 1 copy when there is something.
 */
export const findUnsaved = async ({ id, workspaceId, apply }: Run): Promise<Run['unsaved']> => {
  const left = objects.leftState(id);
  const [object, workspace] = await Promise.all([peekObject(left, headBytes), getWorkspace(workspaceId)]);
  const identity = apply.report?.unsavedState ?? (object && identify(object.head.toString('utf8')));
  if (!identity) return undefined;
  if (covers(workspace?.state, { runId: id, ...identity })) return undefined;
  const copy = object?.size ? object.etag.replaceAll(/\W/g, '') : undefined;
  const sha256 = copy && (await copyObject(left, objects.erroredState(workspaceId, id, copy), object?.etag));
  return { runId: id, ...identity, ...(sha256 ? { stored: true, copy, sha256 } : { stored: false }) };
};
