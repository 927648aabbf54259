import { purgeConfiguration, softDeleteConfiguration } from '../configurations/backing-data.ts';
import { type ConfigurationVersion, getConfigurationVersion } from '../configurations/records.ts';
import type { PhaseName } from '../run/run.ts';
import { isFinal } from '../run/status.ts';
import { purgePhase, softDeletePhase } from '../runs/phase-content.ts';
import { getRun } from '../runs/records.ts';
import { purgeState, softDeleteState } from '../states/history.ts';
import { getStateVersion } from '../states/records.ts';
import { type Key, keys } from '../store/keys.ts';
import { query, queryAll } from '../store/table.ts';
import type { Workspace } from '../workspaces/records.ts';
import type { Kind } from './records.ts';

/**
 * Deletes what is older than a policy says: for a week it can be restored, then it is gone for good. What is needed stays:
 * the current state, the newest configuration, and what open runs and saved plans use.
 */

const dayMs = 24 * 3600 * 1000;
/** In which what was deleted can be restored. */
const graceDays = 7;
/** So many of each kind in one look. */
const maxLooked = 50;

type Age = 'young' | 'old' | 'gone';

const ageOf = (createdAt: string, days: number): Age => {
  const age = (Date.now() - Date.parse(createdAt)) / dayMs;
  return age < days ? 'young' : age < days + graceDays ? 'old' : 'gone';
};

/** `spared`: it stays although it is old. `waits`: it is to be looked at again. */
type Outcome = 'young' | 'spared' | 'waits' | 'gone';

const deleteState = async (id: string, days: number, workspace: Workspace): Promise<Outcome> => {
  const version = await getStateVersion(id);
  if (!version) return 'gone';
  const age = ageOf(version.createdAt, days);
  if (age === 'young') return 'young';
  if (id === workspace.state?.id || version.status === 'pending') return 'spared';
  const deleted = version.status === 'finalized' ? await softDeleteState(version) : undefined;
  if (age === 'old') return 'waits';
  await purgeState(deleted ?? version);
  return 'gone';
};

/** Archives of commits and templates are shared between workspaces. */
const isOwnArchive = ({ id, archive }: ConfigurationVersion): boolean => !archive || archive.key.includes(id);

const deleteConfiguration = async (id: string, days: number, needed: Set<string>): Promise<Outcome> => {
  const version = await getConfigurationVersion(id);
  if (!version) return 'gone';
  const age = ageOf(version.createdAt, days);
  if (age === 'young') return 'young';
  if (needed.has(id) || !['uploaded', 'backing_data_soft_deleted'].includes(version.status)) return 'spared';
  if (version.status === 'uploaded') await softDeleteConfiguration(id);
  if (age === 'old') return 'waits';
  if (isOwnArchive(version)) await purgeConfiguration(id);
  return 'gone';
};

const phases: PhaseName[] = ['plan', 'apply'];

const deleteRun = async (id: string, days: number, openRuns: Set<string>): Promise<Outcome> => {
  const run = await getRun(id);
  if (!run) return 'gone';
  const age = ageOf(run.createdAt, days);
  if (age === 'young') return 'young';
  if (!isFinal(run.status) || openRuns.has(id)) return 'spared';
  for (const phase of phases) {
    if (!run[phase].content) await softDeletePhase(run, phase);
    if (age === 'gone') await purgePhase(run, phase);
  }
  return age === 'old' ? 'waits' : 'gone';
};

interface Needed {
  configurations: Set<string>;
  runs: Set<string>;
}

/** What the workspace still works with. */
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
  ].filter((one) => one !== undefined);
  return { configurations: new Set(configurations), runs };
};

interface Pointer extends Key {
  stateVersionId?: string;
  configurationVersionId?: string;
  runId?: string;
}

const prefixes: Record<Kind, string> = { states: 'SV#', configurations: 'CV#', runs: 'RUN#' };

export interface Progress {
  /** Up to where everything is gone that is to go. */
  place: string | undefined;
  /** There is more to do at once. */
  more: boolean;
}

/** Oldest first, until something is too young. At most 51 reads of pointers, and 1 or 2 requests for each that is deleted. */
export const deleteOlder = async (
  workspace: Workspace,
  kind: Kind,
  { days, after, needed }: { days: number; after: string | undefined; needed: Needed },
): Promise<Progress> => {
  const { pk } = keys.workspace(workspace.id);
  const pointers = await query<Pointer>({ pk, prefix: prefixes[kind], after, limit: maxLooked });
  let place = after;
  let waiting = false;
  for (const { sk, stateVersionId = '', configurationVersionId = '', runId = '' } of pointers) {
    const outcome =
      kind === 'states'
        ? await deleteState(stateVersionId, days, workspace)
        : kind === 'configurations'
          ? await deleteConfiguration(configurationVersionId, days, needed.configurations)
          : await deleteRun(runId, days, needed.runs);
    if (outcome === 'young') return { place, more: false };
    waiting ||= outcome === 'waits';
    if (!waiting) place = sk;
  }
  return { place, more: pointers.length === maxLooked && !waiting };
};
