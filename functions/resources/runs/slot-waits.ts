import { type Key, keys } from '#platform/store/keys.ts';
import { query } from '#platform/store/table.ts';
import { positionsOf } from '#resources/workspaces/queue-entries.ts';
import { isHidden } from '#run/hidden.ts';
import type { PhaseName, Run } from '#run/run.ts';
import { awaitedSlot, slotOf } from '#run/slots.ts';

/** Phases that wait for a slot (lifecycle/slots/slots.ts), in the order of their organization. */

export interface SlotWait extends Key {
  runId: string;
  phase: PhaseName;
}

export const queuedAt = ({ statusTimestamps }: Run, phase: PhaseName): string | undefined =>
  statusTimestamps[phase === 'plan' ? 'plan-queued-at' : 'apply-queued-at'];

/** Applies first, hidden runs last. */
const orderOf = (run: Run, phase: PhaseName): string => (phase === 'apply' ? '0' : isHidden(run) ? '2' : '1');

export const waitKeyOf = (run: Run, phase: PhaseName): Key =>
  keys.slotWait(run.organization, orderOf(run, phase), queuedAt(run, phase) ?? run.createdAt, slotOf(run, phase));

/** Positions beyond this are not counted, so that reading a run stays cheap in a long queue. */
const maxPosition = 1000;

/** The first phases that wait for a slot in an organization. 1 read. */
export const firstWaits = (organization: string, limit: number): Promise<SlotWait[]> =>
  query<SlotWait>({ pk: keys.slotWait(organization, '', '', '').pk, prefix: 'WAIT#', limit });

/**
 * Number of runs ahead of each run that waits in the queue of its workspace, or for a slot, by id: of the same workspace
 * or organization. 1 read per workspace or organization with such a run.
 */
export const aheadOf = async (runs: Run[]): Promise<ReadonlyMap<string, number>> => {
  const awaiting = runs.filter((run) => awaitedSlot(run)).map(({ organization }) => organization);
  const waits = [...new Set(awaiting)].map((organization) => firstWaits(organization, maxPosition));
  const [inWorkspaces, ...lists] = await Promise.all([positionsOf(runs), ...waits]);
  const inOrganizations = lists.flatMap((list) => list.map(({ runId }, ahead) => [runId, ahead] as const));
  return new Map([...inWorkspaces, ...inOrganizations]);
};
