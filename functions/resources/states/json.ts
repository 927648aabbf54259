import { copyObject, objectSize } from '#platform/store/bucket.ts';
import { newSecret } from '#platform/store/id.ts';
import { keys, objects } from '#platform/store/keys.ts';
import { update } from '#platform/store/table.ts';
import { jsonUploadName } from './records.ts';
import type { StateVersion } from './state-version.ts';

/**
 * The output of `terraform show -json` for a state, stored beside it. Only Terraform with the providers can create
 * it, so it arrives after the state: from clients at about the same time, from runners after their run. Its upload is
 * not announced; the first one found is copied to its final key and never changes.
 */

/** Uploads are not expected after this time. */
const awaitMs = 15 * 60_000;

/** Final key of the JSON form. */
export const jsonKey = ({ id, workspaceId, json }: StateVersion): string =>
  objects.jsonState(workspaceId, id, json?.copy);

/** 1 request to S3 while an upload is expected, and 1 copy and 1 write after it arrived. */
export const withJson = async (version: StateVersion): Promise<StateVersion> => {
  const { id, status, json, createdAt } = version;
  if (status !== 'finalized' || json || Date.now() - Date.parse(createdAt) > awaitMs) return version;
  const upload = objects.upload(jsonUploadName(id));
  return (await objectSize(upload)) ? takeJson(version, upload) : version;
};

const takeJson = async (version: StateVersion, from: string): Promise<StateVersion> => {
  const { id, workspaceId } = version;
  const copy = newSecret();
  const sha256 = await copyObject(from, objects.jsonState(workspaceId, id, copy));
  const updated = await update<StateVersion>(keys.stateVersion(id), {
    set: { json: { copy, sha256 } },
    condition: 'status = :finalized AND attribute_not_exists(json)',
    values: { ':finalized': 'finalized' },
  });
  return updated ?? version;
};

/** Copies the current JSON form to another version with the same content. */
export const copyJson = async (from: StateVersion, to: StateVersion): Promise<StateVersion> => {
  const source = await withJson(from);
  return source.json ? takeJson(to, jsonKey(source)) : to;
};
