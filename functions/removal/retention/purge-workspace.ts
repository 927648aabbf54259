import { dueIn } from '#platform/store/due.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { query, update } from '#platform/store/table.ts';
import { type EndedWorkspace, getEndedWorkspace, openRunsOf, removeEnded } from '#removal/workspaces.ts';
import { purgeConfiguration, softDeleteConfiguration } from '#resources/configurations/backing-data.ts';
import { getConfigurationVersion } from '#resources/configurations/records.ts';
import { purgePhase, softDeletePhase } from '#resources/runs/phase-content.ts';
import { getRun } from '#resources/runs/records.ts';
import { purgeState, softDeleteState } from '#resources/states/history.ts';
import { getStateVersion } from '#resources/states/records.ts';
import { isOwnArchive } from './delete-old.ts';

/**
 * Permanent deletion of a workspace after its recovery period: first the content of its states, configurations and
 * runs, then its variables and the workspace itself. It proceeds in passes that record their progress; each can be
 * repeated.
 */

interface Pointer extends Key {
  stateVersionId?: string;
  configurationVersionId?: string;
  runId?: string;
}

/** Ordered by sort key. */
const kinds: [prefix: string, purge: (pointer: Pointer) => Promise<unknown>][] = [
  [
    'CV#',
    async ({ configurationVersionId = '' }) => {
      const version = await getConfigurationVersion(configurationVersionId);
      if (!version || !isOwnArchive(version)) return;
      await softDeleteConfiguration(version.id);
      await purgeConfiguration(version.id);
    },
  ],
  [
    'RUN#',
    async ({ runId = '' }) => {
      const run = await getRun(runId);
      for (const phase of ['plan', 'apply'] as const) {
        if (run) await purgePhase((await softDeletePhase(run, phase)) ?? run, phase);
      }
    },
  ],
  [
    'SV#',
    async ({ stateVersionId = '' }) => {
      const version = await getStateVersion(stateVersionId);
      if (version) await purgeState((await softDeleteState(version)) ?? version);
    },
  ],
];

/** Maximum parallel deletions, and maximum deletions per pass. */
const atOnce = 10;
const maxPerLook = 200;

/** Everything up to this sort key is deleted. */
type Purging = EndedWorkspace & { purgedTo?: string };

const isPast = (at: string | undefined): boolean => at !== undefined && Date.parse(at) <= Date.now();

/** Makes the workspace unrecoverable. Undefined when it was recovered meanwhile. 1 write. */
const beginEnd = (workspace: EndedWorkspace): Promise<Purging | undefined> =>
  update<Purging>(keys.workspace(workspace.id), {
    set: { isEnding: true, ...dueIn(workspace.id, 600) },
    condition: 'deletedAt = :seen AND recoverableUntil = :until',
    values: { ':seen': workspace.deletedAt, ':until': workspace.recoverableUntil },
  });

/** Returns the sort key at which the pass stopped; undefined when everything is deleted. */
const purgeContent = async (id: string, from = ''): Promise<string | undefined> => {
  const { pk } = keys.workspace(id);
  let remaining = maxPerLook;
  for (const [prefix, purge] of kinds) {
    if (from > `${prefix}~`) continue;
    let after = from.startsWith(prefix) ? from : undefined;
    for (let size = atOnce; size === atOnce; ) {
      if (remaining <= 0) return after ?? prefix;
      const pointers: Pointer[] = await query<Pointer>({ pk, prefix, after, limit: atOnce });
      await Promise.all(pointers.map(purge));
      after = pointers.at(-1)?.sk ?? after;
      remaining -= pointers.length;
      size = pointers.length;
    }
  }
  return undefined;
};

/** Runs one pass, if the recovery period is over or a user deleted the workspace permanently. */
export const purgeWorkspace = async (id: string): Promise<void> => {
  const ended = await getEndedWorkspace(id);
  if (!ended?.recoverableUntil || !(ended.isEnding || isPast(ended.recoverableUntil))) return;
  const workspace = await beginEnd(ended);
  if (!workspace?.isDetached || (await openRunsOf(workspace)).length > 0) return;
  const purgedTo = await purgeContent(id, workspace.purgedTo);
  if (purgedTo === undefined) return removeEnded(workspace);
  await update(keys.workspace(id), { set: { purgedTo, ...dueIn(id, 0) }, condition: 'attribute_exists(isEnding)' });
};
