import { applyChanges, InvalidChangesError } from '#platform/formats/state-changes.ts';
import { inBatches } from '#platform/store/batches.ts';
import { getObjectUpTo, putObject } from '#platform/store/bucket.ts';
import { DamagedContentError } from '#platform/store/damaged-content.ts';
import { sha256Of } from '#platform/store/integrity.ts';
import { keys, objects } from '#platform/store/keys.ts';
import { logError } from '#platform/store/log.ts';
import { queryAll, remove, update } from '#platform/store/table.ts';
import { updateRun } from '#resources/runs/records.ts';
import { getWorkspace } from '#resources/workspaces/records.ts';
import { maxStateBytes } from '#run/limits.ts';
import type { Run } from '#run/run.ts';
import { InvalidStateError, md5Of, parseState } from './content.ts';
import { StateNotKeptError, storeState } from './finalize.ts';
import { type Pointer, versionsOf } from './history.ts';
import { readState } from './integrity.ts';
import { createStateVersion, getStateVersion } from './records.ts';
import type { StateVersion } from './state-version.ts';

/**
 * Snapshots of the state during an apply. A complete snapshot is a state version. For a large state, most snapshots
 * contain only the changes since the previous one, and become a state version if the runner ends without a final
 * state. After the run, all of its state versions except the last are deleted.
 */

/** Maximum size of changes, whether sent as base64 or uploaded as an object. */
const maxChangesBytes = 1024 * 1024;

/** 1 request to S3, and 1 write for the first changes of a run. */
export const keepChanges = async ({ id, apply }: Run, before: string, changes: Buffer): Promise<void> => {
  await putObject(objects.stateChanges(id, before), new Uint8Array(changes));
  if (!apply.changesKept) await updateRun(id, { set: { 'apply.changesKept': true } });
};

/** Records the run's first snapshot. @returns true the first time. 1 write */
export const noteSnapshots = async (runId: string, serial: number): Promise<boolean> =>
  (await updateRun(runId, {
    set: { 'apply.snapshotsFrom': serial },
    condition: 'attribute_not_exists(apply.snapshotsFrom)',
  })) !== undefined;

/**
 * The changes of a three-minute apply take a few seconds, some 40 ms each for a state of 5 MB. A longer chain is
 * applied as far as this limit allows.
 */
const chainMs = 15_000;

/** Applies the run's stored changes to a state; undefined when there are none. */
const withChanges = async (runId: string, state: Parameters<typeof readState>[0]): Promise<Buffer | undefined> => {
  let content: Buffer | undefined;
  const end = Date.now() + chainMs;
  const seen = new Set<string>();
  for (let { md5 } = state; !seen.has(md5) && Date.now() < end; md5 = md5Of(content)) {
    seen.add(md5);
    const changes = await getObjectUpTo(objects.stateChanges(runId, md5), maxChangesBytes);
    if (!Buffer.isBuffer(changes)) return content;
    content ??= await readState(state);
    if (!content) return undefined;
    content = applyChanges(content, changes, maxStateBytes);
  }
  return content;
};

/** Errors that a retry cannot fix; callers retry all others. */
const isFinal = (error: unknown): boolean =>
  [InvalidChangesError, InvalidStateError, StateNotKeptError, DamagedContentError].some(
    (kind) => error instanceof kind,
  );

/**
 * Recovers the state of an apply whose runner ended without a final one. Call it when the runner has ended and the
 * run still holds the workspace. Can be repeated. 1 read and 1 request to S3 when there is nothing to recover.
 */
export const recoverState = async ({ id, workspaceId, createdBy, apply }: Run): Promise<void> => {
  if (apply.report?.stateVersionId) return;
  const workspace = await getWorkspace(workspaceId);
  if (!workspace?.state) return;
  try {
    const content = await withChanges(id, { ...workspace.state, workspaceId });
    if (!content) return;
    const { serial, lineage } = parseState(content);
    const created = await createStateVersion({
      ...{ workspace, runId: id, userId: createdBy, serial, lineage, force: false, intermediate: true },
      ...{ md5: md5Of(content), sha256: sha256Of(content), size: content.length },
      counts: apply.snapshotsFrom === undefined,
    });
    if ('conflict' in created) throw new StateNotKeptError(created.conflict);
    if (!created.stored) await storeState(created.stateVersion, content as Buffer<ArrayBuffer>);
  } catch (error) {
    if (!isFinal(error)) throw error;
    logError('recovering the last snapshot of a state failed', error, { runId: id });
  }
};

/** Whether the workspace's state is the final one of the run, not a snapshot. 2 reads */
export const hasLastState = async ({ id, workspaceId }: Run): Promise<boolean> => {
  const { state } = (await getWorkspace(workspaceId)) ?? {};
  const version = state && (await getStateVersion(state.id));
  return version?.runId === id && !version.intermediate;
};

const bySerial = (version: StateVersion, other: StateVersion): number => version.serial - other.serial;

/**
 * Deletes an ended run's state versions except the last: content first, then the record, then the list entry, so that a
 * repeated call finds those that remain. No reads for a run without snapshots.
 */
export const deleteSuperseded = async ({ id, workspaceId, apply }: Run): Promise<void> => {
  const { snapshotsFrom } = apply;
  const workspace = snapshotsFrom === undefined ? undefined : await getWorkspace(workspaceId);
  if (snapshotsFrom === undefined) return;
  if (workspace) {
    const { pk, sk } = keys.workspaceStateVersion(workspaceId, snapshotsFrom, '');
    const pointers = await queryAll<Pointer>({ pk, from: sk, to: 'SV#~' });
    const versions = await versionsOf(pointers);
    const own = versions.filter(({ runId }) => runId === id).sort(bySerial);
    const last = own.filter(({ status }) => status === 'finalized').at(-1);
    const old = own.filter((version) => isSuperseded(version, last) && version.id !== workspace.state?.id);
    if (last) await replaceAll(last, old, apply.report?.stateVersionId === last.id);
    await inBatches(old, (version) => deleteVersion(version));
    const dangling = pointers.filter(
      ({ stateVersionId }) => !versions.some((version) => version.id === stateVersionId),
    );
    for (const place of dangling) await remove({ pk: place.pk, sk: place.sk });
  }
  await updateRun(id, { remove: ['apply.snapshotsFrom'] });
};

const isSuperseded = ({ intermediate, serial }: StateVersion, last: StateVersion | undefined): boolean =>
  intermediate && last !== undefined && serial < last.serial;

/**
 * Links the last state to the version before the run, and marks it as the run's result, even if it was sent as a
 * snapshot.
 * @param old oldest first
 */
const replaceAll = async (last: StateVersion, old: StateVersion[], isResult: boolean): Promise<void> => {
  const { id, previousId } = last;
  // Otherwise an earlier call has already done it.
  if (!old.some((version) => version.id === previousId)) return;
  const before = old[0]?.previousId;
  await update(keys.stateVersion(id), {
    set: { ...(before === undefined ? {} : { previousId: before }), ...(isResult ? { intermediate: false } : {}) },
    remove: before === undefined ? ['previousId'] : [],
    condition: 'previousId = :previous',
    values: { ':previous': previousId },
  });
};

const deleteVersion = async ({ id, workspaceId, serial, sha256, outputsSha256 }: StateVersion): Promise<void> => {
  await putObject(objects.state(workspaceId, id, sha256), '');
  if (outputsSha256) await putObject(objects.outputs(workspaceId, id, outputsSha256), '');
  await remove(keys.stateVersion(id), { condition: 'intermediate = :true', values: { ':true': true } });
  await remove(keys.workspaceStateVersion(workspaceId, serial, id));
};
