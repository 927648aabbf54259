import { createHash } from 'node:crypto';
import { getObject, objectDigest } from '../store/bucket.ts';
import { DamagedContentError } from '../store/damaged-content.ts';
import { objects } from '../store/keys.ts';
import { md5Of } from './content.ts';
import type { StateVersion } from './records.ts';

/**
 * What a state version was finalized with is what everybody reads. Its content lies under its own SHA-256, where nothing
 * else is ever written, and its record has the checksum, which every reader holds against what it got. States of before
 * have the MD5 that their writer announced, and lie under the version's id, to which no upload leads any more.
 */

export const sha256Of = (content: Uint8Array | string): string => createHash('sha256').update(content).digest('hex');

/** `sha256:<hex>` or `md5:<hex>`, as runners check it. */
export const stateChecksum = ({ sha256, md5 }: { sha256?: string; md5: string }): string =>
  sha256 ? `sha256:${sha256}` : `md5:${md5}`;

const damaged = (what: string): DamagedContentError =>
  new DamagedContentError(
    `${what} in storage is damaged: its checksum does not match the recorded one. Roll the workspace back to another state version, or push the correct state.`,
  );

type Stored = Pick<StateVersion, 'id' | 'workspaceId' | 'sha256' | 'md5'>;

/**
 * The state itself; undefined when it is gone.
 * @throws {DamagedContentError}
 */
export const readState = async ({ id, workspaceId, sha256, md5 }: Stored): Promise<Buffer | undefined> => {
  const content = await getObject(objects.state(workspaceId, id, sha256));
  if (!content) return undefined;
  const intact = sha256 ? sha256Of(content) === sha256 : md5Of(content) === md5;
  if (!intact) throw damaged(`State version ${id}`);
  return content;
};

/**
 * For who hands out a link instead of reading: holds what storage says of the object against the record. An object that
 * was written before checksums has none.
 * @throws {DamagedContentError}
 */
export const checkStored = async (what: string, key: string, sha256: string | undefined): Promise<void> => {
  if (sha256 === undefined) return;
  const found = await objectDigest(key);
  if (found?.sha256 !== sha256) throw damaged(what);
};

/** @throws {DamagedContentError} */
export const checkContent = (what: string, content: Buffer, sha256: string | undefined): void => {
  if (sha256 !== undefined && sha256Of(content) !== sha256) throw damaged(what);
};
