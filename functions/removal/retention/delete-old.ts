import { type Key, keys } from '#platform/store/keys.ts';
import { query, queryAll } from '#platform/store/table.ts';
import { purgeConfiguration, softDeleteConfiguration } from '#resources/configurations/backing-data.ts';
import { type ConfigurationVersion, getConfigurationVersion } from '#resources/configurations/records.ts';
import { purgePhase, softDeletePhase } from '#resources/runs/phase-content.ts';
import { getRun } from '#resources/runs/records.ts';
import { purgeState, softDeleteState } from '#resources/states/history.ts';
import { getStateVersion } from '#resources/states/records.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import type { PhaseName } from '#run/run.ts';
import { isFinal } from '#run/status.ts';
import type { Kind, Places } from './records.ts';

/**
 * Deletes content older than a retention policy allows. For a week it can be restored, in case a policy was mistyped;
 * then it is deleted permanently. Content in use stays: the current state, the newest configuration, and the content
 * of open runs and saved plans.
 */

const dayMs = 24 * 3600 * 1000;
/** Days in which deleted content can be restored. */
const graceDays = 7;
/** Maximum number of records of each kind per pass. */
const maxLooked = 50;

const isOlder = (at: string, days: number): boolean => Date.now() - Date.parse(at) >= days * dayMs;

interface Deleter {
  prefix: string;
  /** False for a record that is too young, which ends the pass, because all later records are younger. */
  softDelete(id: string, days: number): Promise<boolean>;
  /** False if the content can still be restored, and so can all content deleted after it. */
  purge(id: string, days: number): Promise<boolean>;
}

const statesOf = (workspace: Workspace): Deleter => ({
  prefix: 'SV#',
  softDelete: async (id, days) => {
    const version = await getStateVersion(id);
    if (version && !isOlder(version.createdAt, days)) return false;
    if (version?.status === 'finalized' && id !== workspace.state?.id) await softDeleteState(version);
    return true;
  },
  purge: async (id, days) => {
    const version = await getStateVersion(id);
    if (version?.status !== 'backing_data_soft_deleted' || !isOlder(version.createdAt, days)) return true;
    if (!isOlder(version.deletedAt ?? version.createdAt, graceDays)) return false;
    await purgeState(version);
    return true;
  },
});

/** Workspaces share archives of commits and templates. */
export const isOwnArchive = ({ id, archive }: ConfigurationVersion): boolean => !archive || archive.key.includes(id);

const configurationsOf = (needed: Set<string>): Deleter => ({
  prefix: 'CV#',
  softDelete: async (id, days) => {
    const version = await getConfigurationVersion(id);
    if (version && !isOlder(version.createdAt, days)) return false;
    if (version?.status === 'uploaded' && !needed.has(id)) await softDeleteConfiguration(id);
    return true;
  },
  purge: async (id, days) => {
    const version = await getConfigurationVersion(id);
    if (version?.status !== 'backing_data_soft_deleted' || !isOlder(version.createdAt, days)) return true;
    const deletedAt = version.statusTimestamps['soft-delete-backing-data-at'] ?? version.createdAt;
    if (!isOlder(deletedAt, graceDays)) return false;
    if (isOwnArchive(version)) await purgeConfiguration(id);
    return true;
  },
});

const phases: PhaseName[] = ['plan', 'apply'];

const runsOf = (needed: Set<string>): Deleter => ({
  prefix: 'RUN#',
  softDelete: async (id, days) => {
    const run = await getRun(id);
    if (run && !isOlder(run.createdAt, days)) return false;
    if (!run || !isFinal(run.status) || needed.has(id)) return true;
    for (const phase of phases) if (!run[phase].content) await softDeletePhase(run, phase);
    return true;
  },
  purge: async (id, days) => {
    const run = await getRun(id);
    if (!run || !isOlder(run.createdAt, days)) return true;
    for (const phase of phases) {
      if (run[phase].content !== 'soft_deleted') continue;
      if (!isOlder(run[phase].contentDeletedAt ?? run.createdAt, graceDays)) return false;
      await purgePhase(run, phase);
    }
    return true;
  },
});

interface Needed {
  configurations: Set<string>;
  runs: Set<string>;
}

/** Content that the workspace still uses. */
export const neededIn = async (workspace: Workspace): Promise<Needed> => {
  const { id, savedPlans, latestRunId, configuration, newestConfigurationId } = workspace;
  const queued = await queryAll<{ runId: string }>({ pk: keys.workspace(id).pk, prefix: 'QUEUE#' });
  const runs = new Set([
    ...queued.map(({ runId }) => runId),
    ...(savedPlans ?? []),
    ...(latestRunId ? [latestRunId] : []),
  ]);
  const used = await Promise.all([...runs].map(getRun));
  const configurations = [
    configuration?.id,
    newestConfigurationId,
    ...used.map((run) => run?.configurationVersionId),
  ].filter((key) => key !== undefined);
  return { configurations: new Set(configurations), runs };
};

interface Pointer extends Key {
  stateVersionId?: string;
  configurationVersionId?: string;
  runId?: string;
}

const idOf = ({ stateVersionId, configurationVersionId, runId }: Pointer): string =>
  stateVersionId ?? configurationVersionId ?? runId ?? '';

const deleterOf = (kind: Kind, workspace: Workspace, needed: Needed): Deleter =>
  ({ states: statesOf(workspace), configurations: configurationsOf(needed.configurations), runs: runsOf(needed.runs) })[
    kind
  ];

export interface Progress {
  places: Places;
  /** Another pass should follow at once. */
  more: boolean;
}

/**
 * Oldest first: soft-deletes content until a record is too young, and purges content deleted a week ago. At most 102
 * reads of pointers, and 1 or 2 requests per deleted record.
 */
export const deleteOlder = async (
  workspace: Workspace,
  kind: Kind,
  { days, places, needed }: { days: number; places: Places; needed: Needed },
): Promise<Progress> => {
  const { pk } = keys.workspace(workspace.id);
  const { prefix, softDelete, purge } = deleterOf(kind, workspace, needed);
  const reached = { ...places };
  const pointersAfter = (after: string | undefined) => query<Pointer>({ pk, prefix, after, limit: maxLooked });

  const toDelete = await pointersAfter(places.deleted);
  for (const pointer of toDelete) {
    if (!(await softDelete(idOf(pointer), days))) break;
    reached.deleted = pointer.sk;
  }
  const { deleted = '' } = reached;
  const toPurge = (await pointersAfter(places.purged)).filter(({ sk }) => sk <= deleted);
  for (const pointer of toPurge) {
    if (!(await purge(idOf(pointer), days))) break;
    reached.purged = pointer.sk;
  }
  const isWhole = (pointers: Pointer[], place: string | undefined) =>
    pointers.length === maxLooked && pointers.at(-1)?.sk === place;
  return { places: reached, more: isWhole(toDelete, reached.deleted) || isWhole(toPurge, reached.purged) };
};
