import { createHash } from 'node:crypto';
import { objectDigest } from './bucket.ts';
import { DamagedContentError } from './damaged-content.ts';

export const sha256Of = (content: Uint8Array | string): string => createHash('sha256').update(content).digest('hex');

/**
 * For callers that return a link instead of reading: compares storage's checksum of the object with the recorded one.
 * An object that was written before checksums were recorded is not checked.
 * @throws {DamagedContentError}
 */
export const checkStored = async (what: string, key: string, sha256: string | undefined): Promise<void> => {
  if (sha256 === undefined) return;
  const stored = await objectDigest(key);
  if (stored?.sha256 !== sha256) throw damaged(what);
};

/** @throws {DamagedContentError} */
export const checkContent = (what: string, content: Buffer, sha256: string | undefined): void => {
  if (sha256 !== undefined && sha256Of(content) !== sha256) throw damaged(what);
};

export const damaged = (what: string): DamagedContentError =>
  new DamagedContentError(
    `${what} in storage is damaged: its checksum does not match the recorded one. Roll the workspace back to another state version, or push the correct state.`,
  );
