import { getObject, objectSize, putObject } from '../bucket.ts';
import { keys, objects } from '../keys.ts';
import { update } from '../table.ts';
import type { StateVersion } from './state-versions.ts';

/**
 * A state as `terraform show -json` tells it, beside the state itself. Only Terraform with its providers can make it, so
 * that it comes after the state: from clients at about the same time, from runners when their run is over. Nobody
 * announces it.
 */

/** After that it is not looked for any more. */
const awaitMs = 15 * 60_000;

/** 1 request to S3 while it may still come, and 1 write when it has. */
export const withJson = async (version: StateVersion): Promise<StateVersion> => {
  const { id, workspaceId, status, hasJson, createdAt } = version;
  if (status !== 'finalized' || hasJson || Date.now() - Date.parse(createdAt) > awaitMs) return version;
  if (!(await objectSize(objects.jsonState(workspaceId, id)))) return version;
  const change = { set: { hasJson: true }, condition: 'status = :finalized', values: { ':finalized': 'finalized' } };
  return (await update<StateVersion>(keys.stateVersion(id), change)) ?? version;
};

/** For a version with the same content as another. */
export const copyJson = async (from: StateVersion, toId: string): Promise<void> => {
  const { hasJson, id, workspaceId } = await withJson(from);
  const json = hasJson && (await getObject(objects.jsonState(workspaceId, id)));
  if (json) await putObject(objects.jsonState(workspaceId, toId), new Uint8Array(json));
};
