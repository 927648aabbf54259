import type { InstanceChange, StateInstance } from './content.ts';
import { getStateVersion, readSummary } from './records.ts';
import type { StateVersion } from './state-version.ts';

/**
 * Records which state versions changed a resource. Each state copies the history of the previous one and adds its own
 * changes, so that showing it takes no comparison of all versions.
 */

const mostChanges = 5;

/** @returns instances of the previous state, by address; empty without one. 1 read and 1 object */
export const instancesBefore = async ({ previousId }: StateVersion): Promise<Map<string, StateInstance>> => {
  const version = previousId === undefined ? undefined : await getStateVersion(previousId);
  // Without the history of a damaged or deleted state, the new state is still valid.
  const summary = version && (await readSummary(version).catch(() => undefined));
  return new Map((summary?.instances ?? []).map((instance) => [instance.address, instance]));
};

/** All states of one run count as one change. */
const withChange = (changes: InstanceChange[], change: InstanceChange): InstanceChange[] => {
  const [latest, ...older] = changes;
  const rest = latest?.run !== undefined && latest.run === change.run ? older : changes;
  return [change, ...rest].slice(0, mostChanges);
};

/** Only the last state version of a run is kept (snapshots.ts). */
const withLast = (changes: InstanceChange[], { version, run }: InstanceChange): InstanceChange[] =>
  changes.map((change) => (run !== undefined && change.run === run ? { ...change, version } : change));

/**
 * Adds to each instance its creation time and its changes, newest first.
 * @param before from {@link instancesBefore}; instances older than this feature have no history
 */
export const withHistory = (
  instances: StateInstance[],
  before: Map<string, StateInstance>,
  { id, createdAt, runId, ofRunId }: StateVersion,
): StateInstance[] => {
  const run = runId ?? ofRunId;
  const change = { version: id, at: createdAt, ...(run === undefined ? {} : { run }) };
  return instances.map((instance) => {
    const old = before.get(instance.address);
    if (!old) return { ...instance, createdAt, changes: [change] };
    const { createdAt: since, changes = [] } = old;
    const isSame = old.digest === undefined || old.digest === instance.digest;
    return { ...instance, createdAt: since, changes: isSame ? withLast(changes, change) : withChange(changes, change) };
  });
};
