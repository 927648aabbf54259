import * as v from 'valibot';
import { sha256Of } from '#platform/store/integrity.ts';
import { storeState } from '#resources/states/finalize.ts';
import { createStateVersion } from '#resources/states/records.ts';
import { keepChanges, noteSnapshots } from '#resources/states/snapshots.ts';
import { getWorkspace } from '#resources/workspaces/records.ts';
import { type ErroredStateAnswer, maxInlineStateBytes, type StateVersionAnswer } from '#run/protocols/runner.ts';
import type { Run } from '#run/run.ts';
import { leftStateUrl, stateUploadUrl } from './addresses.ts';
import { type Caller, ProtocolError } from './caller.ts';
import { type Event, parse } from './protocol.ts';
import { sha256, stateIdentity } from './report.ts';

/** Calls that store the state of an apply (run/protocols/runner.ts). */

const inlineState = v.pipe(v.string(), v.base64(), v.maxLength(Math.ceil(maxInlineStateBytes / 3) * 4));

const bodies = {
  stateVersion: v.object({
    ...stateIdentity.entries,
    sha256: v.optional(sha256),
    size: v.pipe(v.number(), v.integer(), v.minValue(1)),
    intermediate: v.boolean(),
    content: v.optional(inlineState),
  }),
  stateChanges: v.object({
    before: stateIdentity.entries.md5,
    first: v.boolean(),
    changes: inlineState,
  }),
};

export const stateVersion = async ({ run, phase }: Caller, event: Event): Promise<StateVersionAnswer> => {
  const { content: base64, ...values } = parse(bodies.stateVersion, event);
  const content = base64 === undefined ? undefined : Buffer.from(base64, 'base64');
  if (phase !== 'apply') throw new ProtocolError(409, 'a plan cannot change state');
  const workspace = await getWorkspace(run.workspaceId);
  if (!workspace) throw new ProtocolError(410, 'the workspace was deleted');
  const counts = await isCounted(run, values);
  const created = await createStateVersion({
    workspace,
    counts: counts && content ? 'when current' : counts,
    runId: run.id,
    userId: run.createdBy,
    force: false,
    ...values,
    ...(content ? { sha256: sha256Of(content) } : {}),
  });
  if ('conflict' in created) throw new ProtocolError(409, created.conflict);
  const { stateVersion, stored } = created;
  const { id } = stateVersion;
  if (stored) return { id, uploadUrl: null };
  if (content === undefined) return { id, uploadUrl: await stateUploadUrl(stateVersion) };
  await storeState(stateVersion, content);
  return { id, uploadUrl: null, complete: true };
};

/** Only the last state version of an ended run is kept, so its versions count as one. */
const isCounted = async ({ id, apply }: Run, { serial, intermediate }: { serial: number; intermediate: boolean }) => {
  if (apply.snapshotsFrom !== undefined) return false;
  return !intermediate || (await noteSnapshots(id, serial));
};

export const stateChanges = async ({ run, phase }: Caller, event: Event): Promise<object> => {
  const { before, first, changes } = parse(bodies.stateChanges, event);
  if (phase !== 'apply') throw new ProtocolError(409, 'a plan cannot change state');
  // Later changes follow those that the previous call stored.
  const currentMd5 = first ? (await getWorkspace(run.workspaceId))?.state?.md5 : before;
  if (currentMd5 !== before) throw new ProtocolError(409, 'before: is not the current state of the workspace');
  await keepChanges(run, before, Buffer.from(changes, 'base64'));
  return {};
};

export const erroredState = async ({ run, phase }: Caller): Promise<ErroredStateAnswer> => {
  if (phase !== 'apply') throw new ProtocolError(409, 'a plan cannot change state');
  return { uploadUrl: await leftStateUrl(run) };
};
