import * as v from 'valibot';
import { releaseUnsaved } from '#lifecycle/queue/locks.ts';
import { readKeptState } from '#platform/formats/kept-state.ts';
import { getObjectUpTo, presignContent, putObject } from '#platform/store/bucket.ts';
import { sha256Of } from '#platform/store/integrity.ts';
import { keys, objects } from '#platform/store/keys.ts';
import { keptStateContext, openDataKey } from '#platform/store/secrets.ts';
import { update, updateExisting } from '#platform/store/table.ts';
import { recordRunEvent } from '#resources/runs/events.ts';
import { getRun } from '#resources/runs/records.ts';
import { md5Of, parseState } from '#resources/states/content.ts';
import { StateNotKeptError, storeState } from '#resources/states/finalize.ts';
import { createStateVersion } from '#resources/states/records.ts';
import { getWorkspace, type Workspace } from '#resources/workspaces/records.ts';
import { takenInReason } from '#run/ending.ts';
import { maxStateBytes } from '#run/limits.ts';
import type { KeptStateAnswer, KeptStateRequest } from '#run/protocols/runner.ts';
import type { Run } from '#run/run.ts';
import { covers, type StateIdentity } from '#run/state-identity.ts';
import { isFinal } from '#run/status.ts';
import { ProtocolError } from './caller.ts';
import { sha256 } from './report.ts';

/**
 * Imports states that runners kept on their disks. Needs no token: only a runner with the key of the run's job could
 * write the file. Idempotent.
 */

export const keptState = v.object({
  runId: v.pipe(v.string(), v.regex(/^run-[A-Za-z0-9]{16}$/)),
  sealed: v.pipe(v.string(), v.base64(), v.maxLength(2000)),
  sha256,
});

const uploadSeconds = 300;
/** The file of a kept state is slightly larger than the state. */
const maxKeptBytes = maxStateBytes + 10_000;

const foreign = (): ProtocolError => new ProtocolError(403, 'no runner of this platform kept that state');

/** 1 read while the run has not ended, or if its state is already stored. @throws {ProtocolError} 403, 410 */
export const takeKeptState = async (request: KeptStateRequest): Promise<KeptStateAnswer> => {
  const { runId, sealed, sha256 } = request;
  const run = await getRun(runId);
  if (!run) throw new ProtocolError(410, `run ${runId} not found: it was deleted, or belongs to another platform`);
  if (!isFinal(run.status)) return { action: 'wait' };
  const key = await openDataKey(sealed, keptStateContext(runId)).catch((error: Error) => {
    // KMS rejects another key or context with these errors; all others are temporary.
    throw /InvalidCiphertext|IncorrectKey|NotFound/.test(`${error.name} ${error.message}`) ? foreign() : error;
  });
  const name = objects.keptState(runId, sha256);
  const file = await getObjectUpTo(name, maxKeptBytes);
  if (!Buffer.isBuffer(file)) {
    return { action: 'upload', uploadUrl: await presignContent(name, uploadSeconds, sha256) };
  }
  await takeIn(run, opened(file, key));
  return { action: 'taken' };
};

interface Opened {
  content: Buffer<ArrayBuffer>;
  identity: StateIdentity;
}

/** @throws {ProtocolError} 403 for a file that was changed, or contains no state */
const opened = (file: Buffer, key: Buffer): Opened => {
  try {
    const content = readKeptState(file).open(key) as Buffer<ArrayBuffer>;
    const { serial, lineage } = parseState(content);
    return { content, identity: { serial, lineage, md5: md5Of(content) } };
  } catch {
    throw foreign();
  }
};

const takeIn = async (run: Run, kept: Opened): Promise<void> => {
  const workspace = await getWorkspace(run.workspaceId);
  if (!workspace) return;
  const isThere = covers(workspace.state, { runId: run.id, ...kept.identity });
  if (!isThere && !(await becomesCurrent(run, workspace, kept))) return keepAsErrored(run, kept);
  if (run.unsaved) {
    await recordRunEvent(run, 'state_taken_in');
    await update(keys.run(run.id), {
      set: { endReason: takenInReason(run, kept.identity.serial) },
      remove: ['unsaved'],
      condition: 'attribute_exists(unsaved)',
    });
  }
  await releaseUnsaved(run.workspaceId, run.id);
};

/** @returns false if the run's lock was released, or the state cannot replace the workspace's current one */
const becomesCurrent = async (run: Run, workspace: Workspace, { content, identity }: Opened): Promise<boolean> => {
  const created = await createStateVersion({
    ...{ workspace, runId: run.id, userId: run.createdBy, force: false, intermediate: false },
    ...{ ...identity, sha256: sha256Of(content), size: content.length },
  });
  if ('conflict' in created) return false;
  try {
    if (!created.stored) await storeState(created.stateVersion, content);
    return true;
  } catch (error) {
    if (error instanceof StateNotKeptError) return false;
    throw error;
  }
};

/** Stores a state that cannot become the workspace's as a download for users. */
const keepAsErrored = async (run: Run, { content, identity }: Opened): Promise<void> => {
  const sha256 = sha256Of(content);
  const copy = sha256.slice(0, 32);
  await putObject(objects.erroredState(run.workspaceId, run.id, copy), content, undefined, sha256);
  await updateExisting(keys.run(run.id), {
    set: { unsaved: { runId: run.id, ...identity, stored: true, copy, sha256 } },
  });
};
