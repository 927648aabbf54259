import {
  type FinalStatus,
  isFinal,
  type RunStatus,
  type StageName,
  statuses,
  type Timestamp,
  timestampKey,
} from './status.ts';

/** A run's stages as a line of progress, derived from the timestamps of its statuses. */

export type { StageName } from './status.ts';

/** `skipped` was not reached and never will be; `ahead` may still be reached. */
export type StageState = 'done' | 'current' | 'failed' | 'stopped' | 'ahead' | 'skipped';

export interface Stage {
  name: StageName;
  state: StageState;
  from?: Timestamp;
  /** Absent while the stage is in progress. */
  to?: Timestamp;
}

export interface StageFacts {
  status: RunStatus;
  confirmable: boolean;
  autoApply: boolean;
  planOnly: boolean;
  statusTimestamps: Record<string, Timestamp>;
}

const rows = Object.values(statuses);
const stampsOf = (name: StageName): string[] =>
  rows.filter(({ stage }) => stage === name).map(({ timestamp }) => timestamp);

/** In the order of the lifecycle; a stage with several statuses is placed at its last one. */
const inOrder = [...new Set(rows.flatMap(({ stage }) => stage ?? []).reverse())].reverse();

/** The timestamps that begin a stage: its first one; for confirmation its last one, after all checks. */
const begins = inOrder.map((name): [StageName, string[]] => [
  name,
  name === 'Confirmation' ? stampsOf(name).reverse() : stampsOf(name),
]);

/** Stages that every run shows, reached or not; other stages appear only if configured. */
const always: readonly StageName[] = ['Pending', 'Plan', 'Confirmation', 'Apply'];

const endOf = (status: FinalStatus): StageState => statuses[status].final as 'done';

/** Whether a user decides about the plan: not if it continues, or ends, automatically. */
const asksPerson = ({ status, confirmable, autoApply, planOnly, statusTimestamps: at }: StageFacts): boolean => {
  if (confirmable || 'confirmed-at' in at) return true;
  if (planOnly) return false;
  if (isFinal(status)) return status === 'discarded' && 'planned-at' in at;
  return !autoApply && !('apply-queued-at' in at);
};

export const stagesOf = (facts: StageFacts): Stage[] => {
  const { status, planOnly, statusTimestamps: at } = facts;
  const final = isFinal(status);
  const asks = asksPerson(facts);
  const shown = begins.flatMap(([name, keys]) => {
    if (name === 'Confirmation' && !asks) return [];
    if (planOnly && name === 'Apply') return [];
    // While the run is in progress, "planned" may still be followed by checks; confirmation has not begun then.
    const early = name === 'Confirmation' && !final && !facts.confirmable && !('confirmed-at' in at);
    const from = early ? undefined : keys.map((key) => at[key]).find((stamp) => stamp !== undefined);
    return from || always.includes(name) ? [{ name, from }] : [];
  });
  const end = final ? at[timestampKey(status)] : undefined;
  const last = shown.findLastIndex(({ from }) => from !== undefined);
  return shown.map(({ name, from }, i): Stage => {
    if (!from) return { name, state: final ? 'skipped' : 'ahead' };
    if (i < last)
      return { name, state: 'done', from, to: stageEnd(name, at) ?? shown.slice(i + 1).find((s) => s.from)?.from };
    if (!final) return { name, state: 'current', from };
    return { name, state: endOf(status), from, to: end };
  });
};

/** The timestamp of a stage's own end; a stage without one lasts until the next one begins. */
const stageEnd = (name: StageName, at: Record<string, Timestamp>): Timestamp | undefined =>
  name === 'Plan' ? at['planned-at'] : name === 'Confirmation' ? at['confirmed-at'] : undefined;
