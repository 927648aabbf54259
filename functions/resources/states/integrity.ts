import { getObject } from '#platform/store/bucket.ts';
import { damaged, sha256Of } from '#platform/store/integrity.ts';
import { objects } from '#platform/store/keys.ts';
import { md5Of } from './content.ts';
import type { StateVersion } from './state-version.ts';

/**
 * What a state version was finalized with is what everybody reads. Its content lies under its own SHA-256, where nothing
 * else is ever written, and its record has the checksum, which every reader holds against what it got. States of before
 * have the MD5 that their writer announced, and lie under the version's id, to which no upload leads any more.
 */

/** `sha256:<hex>` or `md5:<hex>`, as runners check it. */
export const stateChecksum = ({ sha256, md5 }: { sha256?: string; md5: string }): string =>
  sha256 ? `sha256:${sha256}` : `md5:${md5}`;

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
