import { getObjectUpTo, putObject } from '#platform/store/bucket.ts';
import { sha256Of } from '#platform/store/integrity.ts';
import { keys, objects } from '#platform/store/keys.ts';
import { type Change, update } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { discardStalePlans } from '#resources/runs/saved-plans.ts';
import { countOne, getWorkspace, type Workspace } from '#resources/workspaces/records.ts';
import { maxStateBytes } from '#run/limits.ts';
import { isSameState, stateConflict } from '#run/state-identity.ts';
import { InvalidStateError, md5Of, parseState, type StateContent, type StateSummary } from './content.ts';
import { getStateVersion, tooLarge } from './records.ts';
import { instancesBefore, withHistory } from './resource-history.ts';
import type { StateVersion } from './state-version.ts';

/** Checks the content of a state version and makes it the workspace's current one. */

/** A larger summary is stored only in the object, because every read of the record would pay for it. */
const inlineSummaryBytes = 8192;

/** @throws {InvalidStateError} when the upload does not match its announcement */
const check = (version: StateVersion, bytes: Buffer | number): StateContent => {
  if (typeof bytes === 'number') throw new InvalidStateError(tooLarge(bytes));
  const md5 = md5Of(bytes);
  if (md5 !== version.md5) {
    throw new InvalidStateError(
      `The uploaded state has MD5 ${md5} instead of the announced ${version.md5}. Upload it again.`,
    );
  }
  if (version.sha256 !== undefined && sha256Of(bytes) !== version.sha256) {
    throw new InvalidStateError('The uploaded state does not match the announced SHA-256. Upload it again.');
  }
  return parseState(bytes);
};

/** Other content was accepted for the version meanwhile and takes precedence. */
class SupersededError extends Error {
  override name = 'SupersededError';
}

/**
 * Makes it current, if its writer still holds the lock and it may follow the current state.
 * @throws {InvalidStateError} when it may not
 * @throws {SupersededError}
 */
const becomeCurrent = async (
  version: StateVersion,
  sha256: string,
  { managed: resources, tainted }: Pick<StateContent, 'managed' | 'tainted'>,
): Promise<void> => {
  const { id, workspaceId, serial, lineage, md5, runId, userId, uncounted } = version;
  const at = now();
  const change: Change = {
    set: {
      state: { id, serial, lineage, md5, sha256, resources, ...(tainted ? { tainted } : {}), at },
      changedAt: at,
    },
    names: { '#lock': 'lock' },
  };
  const write = (when: When, add?: Change['add']) =>
    update<Workspace>(keys.workspace(workspaceId), {
      ...change,
      add,
      condition: `#lock.${runId ? 'runId' : 'userId'} = :holder AND (${when.condition})`,
      values: { ':holder': runId ?? userId, ...when.values },
    });
  const [again, follows] = [isCurrent(id, sha256), mayFollow(version)];
  // Counted by the first write that makes it current, never by a repeat.
  const updated = uncounted
    ? ((await write(follows, { stateVersionCount: 1 })) ?? (await write(again)))
    : await write(either(again, follows));
  if (updated) {
    await discardStalePlans(updated, runId);
    return;
  }
  const workspace = await getWorkspace(workspaceId);
  if (!workspace) throw new InvalidStateError('The workspace was deleted.');
  const { state } = workspace;
  if (state?.id === id && state.sha256 !== undefined && state.sha256 !== sha256) throw new SupersededError();
  if (isSameState(state, version)) {
    if (uncounted && state?.id !== id) await countOne(workspaceId, 'stateVersionCount');
    return;
  }
  const conflict = version.replaces === undefined ? stateConflict(state, version) : undefined;
  throw new InvalidStateError(
    conflict ?? 'The workspace was unlocked, or its state changed, before the new state was uploaded.',
  );
};

interface When {
  condition: string;
  values: Record<string, unknown>;
}

const either = (condition: When, other: When): When => ({
  condition: `(${condition.condition}) OR (${other.condition})`,
  values: { ...condition.values, ...other.values },
});

const isCurrent = (id: string, sha256: string): When => ({
  condition: '#state.id = :id AND (attribute_not_exists(#state.sha256) OR #state.sha256 = :sha256)',
  values: { ':id': id, ':sha256': sha256 },
});

/** Condition on the current state that this version may replace. */
const mayFollow = ({ serial, lineage, replaces }: StateVersion): When => {
  if (replaces === null) return { condition: 'attribute_not_exists(#state)', values: {} };
  if (replaces !== undefined) return { condition: '#state.id = :replaces', values: { ':replaces': replaces } };
  return {
    condition: 'attribute_not_exists(#state) OR (#state.lineage = :lineage AND #state.serial < :serial)',
    values: { ':lineage': lineage, ':serial': serial },
  };
};

/** A state with its content, and its JSON form if available. */
interface Content {
  state: Buffer<ArrayBuffer>;
  json?: StateVersion['json'];
}

/**
 * Stores a state under its checksum, once. `isUpload`: its content is still at the upload key.
 * @returns attributes for the record
 */
const keep = async (version: StateVersion, content: StateContent, bytes: Buffer<ArrayBuffer>, isUpload: boolean) => {
  const { id, workspaceId } = version;
  const { outputs, instances, resources, modules, providers } = content;
  const summary = JSON.stringify({ resources, modules, providers });
  const all: StateSummary = { outputs, instances, resources, modules, providers };
  const whole = JSON.stringify(all);
  const [sha256, outputsSha256] = [version.sha256 ?? sha256Of(bytes), sha256Of(whole)];
  const outputsKey = objects.outputs(workspaceId, id, outputsSha256);
  await Promise.all([
    putObject(outputsKey, whole, 'application/json', outputsSha256),
    isUpload ? putObject(objects.state(workspaceId, id, sha256), bytes, undefined, sha256) : undefined,
  ]);
  return {
    sha256,
    outputsSha256,
    size: bytes.length,
    terraformVersion: content.terraformVersion,
    outputCount: outputs.length,
    ...(summary.length <= inlineSummaryBytes ? { summary } : {}),
  };
};

/** Key of the pending content. */
const sourceOf = ({ id, workspaceId, sha256, uploadKey }: StateVersion): string =>
  uploadKey ?? objects.state(workspaceId, id, sha256);

/**
 * Checks an uploaded state and makes it current. The version stays `pending` without an upload; an invalid one
 * becomes `discarded`, with its `refusal`. Can be called at any time and repeated. 1 read, 2 writes and 3 S3
 * requests; 4 S3 requests for an upload without a known checksum.
 * @param stored its content, if the caller has just stored it under its checksum; otherwise the content is read
 */
export const finalizeStateVersion = async (version: StateVersion, stored?: Content): Promise<StateVersion> => {
  if (version.status !== 'pending') return version;
  const [bytes, before] = await Promise.all([
    stored?.state ?? getObjectUpTo(sourceOf(version), maxStateBytes),
    instancesBefore(version),
  ]);
  if (bytes === undefined) return version;
  try {
    const checked = check(version, bytes);
    const content = { ...checked, instances: withHistory(checked.instances, before, version) };
    const object = await keep(version, content, bytes as Buffer<ArrayBuffer>, !stored && version.sha256 === undefined);
    const lineage = version.lineage || content.lineage;
    await becomeCurrent({ ...version, lineage }, object.sha256, content);
    return settle(version, {
      status: 'finalized',
      lineage,
      ...object,
      ...(stored?.json ? { json: stored.json } : {}),
    });
  } catch (error) {
    if (error instanceof SupersededError) return (await getStateVersion(version.id)) ?? version;
    if (!(error instanceof InvalidStateError)) throw error;
    // A discarded version stays in the list.
    if (version.uncounted) await countOne(version.workspaceId, 'stateVersionCount');
    return settle(version, { status: 'discarded', refusal: error.message });
  }
};

const settle = async (version: StateVersion, set: Partial<StateVersion>): Promise<StateVersion> => {
  const updated = await update<StateVersion>(keys.stateVersion(version.id), {
    set,
    condition: '#status = :pending',
    values: { ':pending': 'pending' },
  });
  return updated ?? (await getStateVersion(version.id)) ?? version;
};

/** An announced state did not become the workspace's current one; the message contains the reason. */
export class StateNotKeptError extends Error {
  override name = 'StateNotKeptError';
}

/**
 * Like {@link finalizeStateVersion}, but throws unless the version becomes current.
 * @throws {StateNotKeptError} when it is not finalized, or belongs to another run
 */
export const completeStateVersion = async (id: string, { runId }: { runId?: string } = {}): Promise<StateVersion> => {
  const version = await getStateVersion(id);
  if (!version || version.runId !== runId) throw new StateNotKeptError(`State version ${id} not found in this run.`);
  return orDamaged(await finalizeStateVersion(version));
};

const orDamaged = (version: StateVersion): StateVersion => {
  const { id, status, refusal } = version;
  if (status === 'pending') throw new StateNotKeptError(`The content of state version ${id} was not uploaded.`);
  if (status === 'discarded') throw new StateNotKeptError(refusal ?? 'The state was rejected.');
  return version;
};

/**
 * Stores the content of an announced state and makes it current; `refusal` contains the reason when it does not
 * become current.
 */
export const storeContent = async (
  version: StateVersion,
  state: Buffer<ArrayBuffer>,
  json?: Buffer<ArrayBuffer>,
): Promise<StateVersion> => {
  const { id, workspaceId } = version;
  const sha256 = sha256Of(state);
  const jsonSha256 = json && sha256Of(json);
  await Promise.all([
    putObject(objects.state(workspaceId, id, sha256), state, undefined, sha256),
    json && jsonSha256
      ? putObject(objects.jsonState(workspaceId, id, jsonSha256), json, 'application/json', jsonSha256)
      : undefined,
  ]);
  return finalizeStateVersion(version, {
    state,
    ...(jsonSha256 ? { json: { copy: jsonSha256, sha256: jsonSha256 } } : {}),
  });
};

/**
 * Like {@link storeContent}, but throws unless the version becomes current.
 * @throws {StateNotKeptError} when it does not match its announcement, or may not follow the current state
 */
export const storeState = async (version: StateVersion, state: Buffer<ArrayBuffer>): Promise<StateVersion> =>
  orDamaged(await storeContent(version, state));
