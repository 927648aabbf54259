import { createHash } from 'node:crypto';
import { tornText } from './state-texts.ts';
import type { Owner } from './terraform/owner.ts';
import { readForeign } from './workspace/foreign-paths.ts';
import { maxState } from './workspace/limits.ts';
import { UnexpectedFileError } from './workspace/unexpected-file.ts';

/** Terraform's state file, unchanged. */

export interface Snapshot {
  content: Buffer;
  md5: string;
  serial: number;
  lineage: string;
}

export const md5 = (content: Buffer): string => createHash('md5').update(content).digest('hex');

/**
 * Reads the state file synchronously: Terraform would rewrite a large state between the parts of an asynchronous read.
 * @returns undefined unless the file is a complete state: Terraform writes it in place, so a read may return half of
 * it
 */
export const readSnapshot = (path: string, owner: Owner | undefined): Snapshot | undefined => {
  try {
    return snapshotOf(readForeign(path, { of: owner, maxBytes: maxState }));
  } catch {
    return undefined;
  }
};

export const snapshotOf = (content: Buffer): Snapshot | undefined => {
  try {
    // Some versions of OpenTofu end it with more than one line break.
    if (content.subarray(-16).toString('latin1').trimEnd().at(-1) !== '}') return undefined;
    const { serial, lineage } = JSON.parse(content.toString('utf8')) as { serial: unknown; lineage: unknown };
    if (!Number.isSafeInteger(serial) || typeof lineage !== 'string') return undefined;
    return { content, md5: md5(content), serial: serial as number, lineage };
  } catch {
    return undefined;
  }
};

const unknownText =
  'Changes that this apply made since the last stored state are not recorded. Compare the state with what exists (a refresh-only run) before the next apply.';

/** Why there is no snapshot; undefined if Terraform has not written a state. */
export const whyUnreadable = (path: string, owner: Owner | undefined): string | undefined => {
  try {
    return readForeign(path, { of: owner, maxBytes: maxState }).length > 0 ? tornText : undefined;
  } catch (error) {
    if (error instanceof UnexpectedFileError) return `${error.message} ${unknownText}`;
    return undefined;
  }
};
