import { getObject } from '#platform/store/bucket.ts';
import { damaged, sha256Of } from '#platform/store/integrity.ts';
import { objects } from '#platform/store/keys.ts';
import { md5Of } from './content.ts';
import type { StateVersion } from './state-version.ts';

/**
 * All readers get exactly the content with which a state version was finalized. The content is stored under its own
 * SHA-256, where nothing else is ever written, and readers check it against the checksum in the record. Older
 * versions have only the MD5 from their writer, and are stored under the version's id, to which uploads no longer
 * have access.
 */

/** `sha256:<hex>` or `md5:<hex>`, the form that runners check. */
export const stateChecksum = ({ sha256, md5 }: { sha256?: string; md5: string }): string =>
  sha256 ? `sha256:${sha256}` : `md5:${md5}`;

type Stored = Pick<StateVersion, 'id' | 'workspaceId' | 'sha256' | 'md5'>;

/**
 * The content; undefined when it was deleted.
 * @throws {DamagedContentError}
 */
export const readState = async ({ id, workspaceId, sha256, md5 }: Stored): Promise<Buffer | undefined> => {
  const content = await getObject(objects.state(workspaceId, id, sha256));
  if (!content) return undefined;
  const intact = sha256 ? sha256Of(content) === sha256 : md5Of(content) === md5;
  if (!intact) throw damaged(`State version ${id}`);
  return content;
};
