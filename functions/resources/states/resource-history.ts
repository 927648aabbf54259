import type { InstanceChange, StateInstance } from './content.ts';
import { getStateVersion, readSummary } from './records.ts';
import type { StateVersion } from './state-version.ts';

/**
 * Which state versions changed a resource. Every state notes it with the instance, from what the state before it has:
 * nobody has to compare the whole history to show it.
 */

const mostChanges = 5;

/** @returns instances of the state before, by address; none when there was none. 1 read and 1 object */
export const instancesBefore = async ({ previousId }: StateVersion): Promise<Map<string, StateInstance>> => {
  const version = previousId === undefined ? undefined : await getStateVersion(previousId);
  if (version?.status !== 'finalized') return new Map();
  // Of a damaged one nothing is taken over, and the new state is none the worse.
  const summary = await readSummary(version).catch(() => undefined);
  return new Map((summary?.instances ?? []).map((instance) => [instance.address, instance]));
};

/** A run writes several states; it counts as one change. */
const withChange = (changes: InstanceChange[], change: InstanceChange): InstanceChange[] => {
  const [latest, ...older] = changes;
  const rest = latest?.run !== undefined && latest.run === change.run ? older : changes;
  return [change, ...rest].slice(0, mostChanges);
};

/** Of a run's state versions only the last one stays (snapshots.ts). */
const withLast = (changes: InstanceChange[], { version, run }: InstanceChange): InstanceChange[] =>
  changes.map((change) => (run !== undefined && change.run === run ? { ...change, version } : change));

/**
 * Notes with each instance when it was created, and what changed it, newest first.
 * @param before as {@link instancesBefore} gives them; of those from before this was noted nothing is known
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
