import { sha256Of } from '#platform/store/integrity.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import { md5Of } from './content.ts';
import { storeContent } from './finalize.ts';
import { readState } from './integrity.ts';
import { copyJson } from './json.ts';
import { createStateVersion, type NewStateVersion } from './records.ts';
import { withSerial } from './serial.ts';
import type { StateVersion } from './state-version.ts';

/**
 * Makes an older state current again, as a new version with the next serial. `conflict` explains to users why it
 * cannot.
 * @throws {DamagedContentError} when the older state does not match its checksum
 */
export const duplicateState = async (
  workspace: Workspace,
  source: StateVersion,
  userId: string,
): Promise<{ stateVersion: StateVersion } | { conflict: string }> => {
  const content = await readState(source);
  if (!content) return { conflict: `The content of state version ${source.id} has expired or was deleted.` };
  const serial = (workspace.state?.serial ?? source.serial) + 1;
  const bytes = withSerial(content, serial);
  const result = await addState(bytes, { workspace, userId, serial, lineage: source.lineage, rollbackOf: source.id });
  if ('conflict' in result || result.existed) return result;
  return { stateVersion: await copyJson(source, result.stateVersion) };
};

/**
 * Makes a complete state the workspace's current one with any lineage, because a forced write may have changed it.
 * `existed`: this version was stored before.
 */
export const addState = async (
  bytes: Buffer<ArrayBuffer>,
  values: Pick<NewStateVersion, 'workspace' | 'userId' | 'serial' | 'lineage'> & { rollbackOf?: string },
): Promise<{ stateVersion: StateVersion; existed: boolean } | { conflict: string }> => {
  const result = await createStateVersion({
    ...values,
    md5: md5Of(bytes),
    sha256: sha256Of(bytes),
    size: bytes.length,
    force: true,
    intermediate: false,
  });
  if ('conflict' in result) return result;
  if (result.stored) return { stateVersion: result.stateVersion, existed: true };
  const stateVersion = await storeContent(result.stateVersion, bytes);
  return stateVersion.refusal ? { conflict: stateVersion.refusal } : { stateVersion, existed: false };
};
