import { copyObject, objectSize } from '#platform/store/bucket.ts';
import { newSecret } from '#platform/store/id.ts';
import { keys, objects } from '#platform/store/keys.ts';
import { update } from '#platform/store/table.ts';
import { jsonUploadName } from './records.ts';
import type { StateVersion } from './state-version.ts';

/**
 * A state as `terraform show -json` tells it, beside the state itself. Only Terraform with its providers can make it, so
 * that it comes after the state: from clients at about the same time, from runners when their run is over. Nobody
 * announces it; the first that is seen is copied to where it is read, and stays as it is.
 */

/** After that it is not looked for any more. */
const awaitMs = 15 * 60_000;

/** Where it is read. */
export const jsonKey = ({ id, workspaceId, json }: StateVersion): string =>
  objects.jsonState(workspaceId, id, json?.copy);

/** 1 request to S3 while it may still come, and 1 copy and 1 write when it has. */
export const withJson = async (version: StateVersion): Promise<StateVersion> => {
  const { id, status, hasJson, createdAt } = version;
  if (status !== 'finalized' || hasJson || Date.now() - Date.parse(createdAt) > awaitMs) return version;
  const upload = objects.upload(jsonUploadName(id));
  return (await objectSize(upload)) ? takeJson(version, upload) : version;
};

const takeJson = async (version: StateVersion, from: string): Promise<StateVersion> => {
  const { id, workspaceId } = version;
  const copy = newSecret();
  const sha256 = await copyObject(from, objects.jsonState(workspaceId, id, copy));
  const updated = await update<StateVersion>(keys.stateVersion(id), {
    set: { hasJson: true, json: { copy, sha256 } },
    condition: 'status = :finalized AND attribute_not_exists(hasJson)',
    values: { ':finalized': 'finalized' },
  });
  return updated ?? version;
};

/** For a version with the same content as another; as it is then. */
export const copyJson = async (from: StateVersion, to: StateVersion): Promise<StateVersion> => {
  const source = await withJson(from);
  return source.hasJson ? takeJson(to, jsonKey(source)) : to;
};
