import { setTimeout as sleep } from 'node:timers/promises';
import { environment } from '#platform/environment.ts';
import { keys } from '#platform/store/keys.ts';
import { get, remove, update } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { deliver } from '#resources/runs/execution.ts';
import { getRun, updateRun } from '#resources/runs/records.ts';
import { firstWaits, queuedAt, waitKeyOf } from '#resources/runs/slot-waits.ts';
import { isStopped } from '#run/lifecycle.ts';
import type { PhaseName, Run } from '#run/run.ts';
import {
  awaitedSlot,
  delisted,
  enlisted,
  freed,
  granted,
  held,
  isLimited,
  isWanted,
  mayPass,
  nextOrganization,
  noSlots,
  type SlotName,
  type Slots,
  slotOf,
  slotStates,
} from '#run/slots.ts';
import { isFinal } from '#run/status.ts';

/**
 * Slots of runners (run/slots.ts). One item says who has a slot and which organizations wait; each organization's
 * partition has its waiting phases in order. A phase has its slot from before its container starts until the container
 * has stopped.
 *
 * Every change is one conditional write, and may be repeated or interrupted between any two calls:
 *
 * - A phase is put into its organization's partition before the item is read, and a slot is returned before a
 *   partition is read. So of a phase that waits and a slot that is returned, one sees the other.
 * - The item has the slot before the run has it. A function that is interrupted in between leaves the entry, and the
 *   run's next attempt or check finds the slot.
 *
 * Nothing is read or written for runs that the operator does not limit.
 */

const read = async (consistent = true): Promise<Slots> => (await get<Slots>(keys.slots, consistent)) ?? noSlots;

/** @returns false if another function has changed the item since it was read */
const write = async ({ version }: Slots, { held, waiting, served }: Slots): Promise<boolean> => {
  const written = await update(keys.slots, {
    set: { version: version + 1, held, waiting, served },
    condition: version ? 'version = :version' : 'attribute_not_exists(pk)',
    values: version ? { ':version': version } : {},
  });
  return written !== undefined;
};

/** The item changes when a runner starts or stops: a second conflict in a row is rare. */
const backoff = async (tries: number): Promise<void> => {
  if (tries > 2) await sleep(Math.random() * Math.min(20 * tries, 500));
};

/**
 * Changes the item. 1 read and 1 write, or only the read if `next` returns the item unchanged.
 * @returns the item afterwards
 */
const change = async (next: (slots: Slots) => Slots): Promise<Slots> => {
  for (let tries = 1; ; tries++) {
    const before = await read();
    const after = next(before);
    if (after === before || (await write(before, after))) return after;
    await backoff(tries);
  }
};

const has = (slots: Slots, name: SlotName): boolean => name in slots.held;

/** Whether the runner of the plan is ready for the apply. */
const hasReadyRunner = ({ plan }: Run): boolean => plan.ready !== undefined && plan.ready.until > now();

/**
 * Takes a slot, unless it has one already, if one is free and no other run waits for it. An apply takes over the
 * slot of the plan if the plan's runner is ready for it.
 */
export const takeSlot = async (run: Run, phase: PhaseName): Promise<boolean> => {
  const { organization } = run;
  const limits = environment.maxRunners;
  // The setting was removed.
  if (!isLimited(limits, organization)) return true;
  const [plan, own] = [slotOf(run, 'plan'), slotOf(run, phase)];
  const slots = await change((before) => {
    if (has(before, own)) return before;
    if (phase === 'apply' && has(before, plan) && hasReadyRunner(run))
      return held(freed(before, [plan]), own, organization);
    return mayPass(before, limits, organization) ? held(before, own, organization) : before;
  });
  return has(slots, own);
};

/**
 * Puts a phase that waits for a slot into its organization's queue, and gives free slots to those whose turn it is. 1
 * write and 1 read; 1 write more if the organization did not wait before.
 */
export const awaitSlot = async (run: Run, phase: PhaseName): Promise<void> => {
  await update(waitKeyOf(run, phase), { set: { runId: run.id, phase } });
  await change((before) => enlisted(before, run.organization, phase));
  await grantSlots();
};

/** Gives every free slot to the phase whose turn it is. 1 read if there is none; 3 reads and 5 writes for each. */
export const grantSlots = async (): Promise<number> => {
  const limits = environment.maxRunners;
  if (!limits) return 0;
  for (let tries = 1, count = 0; ; tries++) {
    const slots = await read();
    const organization = nextOrganization(slots, limits);
    if (organization === undefined) return count;
    const [first, second] = await firstWaits(organization, 2);
    const run = first && (await getRun(first.runId));
    if (first && (!run || awaitedSlot(run) !== first.phase)) {
      await remove({ pk: first.pk, sk: first.sk });
      continue;
    }
    const name = first && slotOf({ id: first.runId }, first.phase);
    const isWritten = await write(
      slots,
      name ? granted(slots, limits, { name, organization, next: second?.phase }) : delisted(slots, organization),
    );
    // The response of a write that took effect may have been lost.
    if (name && (isWritten || has(await read(), name))) {
      count++;
      await tell(run as Run, first.phase);
    }
    // A phase may have been queued before the organization was removed, and after its queue was read.
    if (isWritten && !second) await enlistAgain(organization);
    if (!isWritten) await backoff(tries);
  }
};

const enlistAgain = async (organization: string): Promise<void> => {
  const [first] = await firstWaits(organization, 1);
  if (first) await change((before) => enlisted(before, organization, first.phase));
};

/** Resumes the execution of a run whose phase has got a slot. A run that no longer waits returns it. */
const tell = async (run: Run, phase: PhaseName): Promise<void> => {
  const told = await updateRun(run.id, {
    set: { slot: phase },
    condition: 'wait.state = :waiting',
    values: { ':waiting': slotStates[phase] },
  });
  await remove(waitKeyOf(run, phase));
  if (told) await deliver(told);
  else if ((await getRun(run.id))?.slot !== phase) await returnSlots([slotOf(run, phase)]);
};

/** Returns slots, and gives them to others. 1 read and 1 write; 1 read more if no run waits. */
export const returnSlots = async (names: SlotName[]): Promise<boolean> => {
  let had = false;
  await change((before) => {
    had = names.some((name) => has(before, name));
    return had ? freed(before, names) : before;
  });
  await grantSlots();
  return had;
};

/** Returns a slot that the run was not written with, unless a later attempt may have taken it. */
export const returnUnused = async (id: string, phase: PhaseName): Promise<void> => {
  const run = await getRun(id);
  if (!run || isFinal(run.status) || isStopped(run)) await returnSlots([slotOf({ id }, phase)]);
};

/** The run's container has stopped. */
export const returnSlotsOf = async (run: Run, taskId: string): Promise<void> => {
  const phases = (['plan', 'apply'] as const).filter((phase) => run[phase].taskId === taskId);
  if (run.limited && phases.length) await returnSlots(phases.map((phase) => slotOf(run, phase)));
};

/** An ended run no longer waits, and returns the slot of a container that was never started. */
export const leaveSlots = async (run: Run): Promise<void> => {
  const phase = (['apply', 'plan'] as const).find((phase) => queuedAt(run, phase));
  if (!run.limited || !phase || run[phase].taskId) return;
  await remove(waitKeyOf(run, phase));
  await returnSlots([slotOf(run, phase)]);
};

/** What another attempt of the state would do. @returns whether the run got a slot */
export const repairSlot = async (run: Run, phase: PhaseName): Promise<boolean> => {
  const isTaken = await takeSlot(run, phase);
  await (isTaken ? tell(run, phase) : awaitSlot(run, phase));
  return isTaken;
};

/** Whether another phase could have the slot of a plan whose runner is ready. 1 eventually consistent read. */
export const isSlotWanted = async (run: Run): Promise<boolean> => {
  const limits = environment.maxRunners;
  if (!run.limited || !limits || isStopped(run)) return false;
  return isWanted(await read(false), limits, slotOf(run, 'plan'));
};

/** All slots, for the sweep. 1 read. */
export const heldSlots = async (): Promise<SlotName[]> => Object.keys((await read()).held) as SlotName[];
