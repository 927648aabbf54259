import { sha256Of } from '../store/integrity.ts';
import type { Workspace } from '../workspaces/records.ts';
import { md5Of } from './content.ts';
import { storeContent } from './finalize.ts';
import { readState } from './integrity.ts';
import { copyJson } from './json.ts';
import { createStateVersion } from './records.ts';
import type { StateVersion } from './state-version.ts';

/**
 * Makes an older state current again, as a new version: the same content under the next serial.
 * `conflict` says in plain words why not.
 * @throws {DamagedContentError} when the older one is not what it was
 */
export const duplicateState = async (
  workspace: Workspace,
  source: StateVersion,
  userId: string,
): Promise<{ stateVersion: StateVersion } | { conflict: string }> => {
  const content = await readState(source);
  if (!content) return { conflict: `The content of state version ${source.id} has expired or was deleted.` };
  const serial = (workspace.state?.serial ?? source.serial) + 1;
  const state = { ...(JSON.parse(content.toString('utf8')) as object), serial };
  const bytes = Buffer.from(`${JSON.stringify(state, null, 2)}\n`);
  const result = await createStateVersion({
    workspace,
    userId,
    serial,
    lineage: source.lineage,
    md5: md5Of(bytes),
    sha256: sha256Of(bytes),
    size: bytes.length,
    // It may be of another lineage: state that was replaced by force.
    force: true,
    intermediate: false,
    rollbackOf: source.id,
  });
  if ('conflict' in result) return result;
  if (result.stored) return { stateVersion: result.stateVersion };
  const stateVersion = await storeContent(result.stateVersion, bytes);
  if (stateVersion.refusal) return { conflict: stateVersion.refusal };
  return { stateVersion: await copyJson(source, stateVersion) };
};
