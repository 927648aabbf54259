import { isStopped } from './lifecycle.ts';
import type { WaitingState } from './machine-states.ts';
import type { PhaseName, Run } from './run.ts';

/**
 * Slots of runners, where the operator limits their number. Who has one, and whose turn is next. Pure.
 *
 * A free slot goes to the organizations that wait, in turn: each gets one before any gets the next. Those whose next
 * phase is an apply come first in a round; within an organization, applies come before plans, and earlier runs before
 * later ones.
 */

/** Maximum numbers of runners; absent: unlimited. */
export interface SlotLimits {
  platform?: number;
  /** For each organization that is not in `organizations`. */
  organization?: number;
  /** By lower-case name. */
  organizations?: Record<string, number>;
}

/** A phase with a slot, or that waits for one: `<run id>.<phase>`. */
export type SlotName = `${string}.${PhaseName}`;

/**
 * Task group (ECS: RunTask) of containers that may have a slot: the platform needs the event of their end, also after a
 * regular one.
 */
export const slotGroup = 'stepform-slots';

/** The one record of all slots. */
export interface Slots {
  /** Number of changes. */
  version: number;
  /** The organization of each phase that has a slot. */
  held: Record<SlotName, string>;
  /** Organizations with a phase that waits, in the order of their turns. `next`: the first of these phases. */
  waiting: { organization: string; next: PhaseName }[];
  /** Organizations that got a slot in this round. */
  served: string[];
}

export const noSlots: Slots = { version: 0, held: {}, waiting: [], served: [] };

export const slotOf = ({ id }: Pick<Run, 'id'>, phase: PhaseName): SlotName => `${id}.${phase}`;

/** The states in which a run waits for a slot. */
export const slotStates = {
  plan: 'PlanAwaitingSlot',
  apply: 'ApplyAwaitingSlot',
} as const satisfies Record<PhaseName, WaitingState>;
export type SlotState = (typeof slotStates)[PhaseName];

/** The phase for which the run waits for a slot. */
export const awaitedSlot = (run: Pick<Run, 'wait' | 'slot' | 'cancel' | 'decision'>): PhaseName | undefined => {
  const phase = (['plan', 'apply'] as const).find((phase) => run.wait?.state === slotStates[phase]);
  return phase === run.slot || isStopped(run as Run) ? undefined : phase;
};

/** Maximum number of runners of the organization, apart from the platform's. */
const limitOf = (limits: SlotLimits, organization: string): number | undefined =>
  limits.organizations?.[organization.toLowerCase()] ?? limits.organization;

/** The number that the organization's runs cannot exceed; undefined if nothing limits them. */
export const ceilingOf = (limits: SlotLimits | undefined, organization: string): number | undefined => {
  const own = limits && limitOf(limits, organization);
  const numbers = [limits?.platform, own].filter((number) => number !== undefined);
  return numbers.length ? Math.min(...numbers) : undefined;
};

export const isLimited = (limits: SlotLimits | undefined, organization: string): limits is SlotLimits =>
  ceilingOf(limits, organization) !== undefined;

/** Whether a slot is free, by organization. */
const freeSlots = ({ held }: Slots, limits: SlotLimits): ((organization: string) => boolean) => {
  const counts = new Map<string, number>();
  const holders = Object.values(held);
  for (const holder of holders) counts.set(holder, (counts.get(holder) ?? 0) + 1);
  const { platform = Number.POSITIVE_INFINITY } = limits;
  return (organization) =>
    holders.length < platform &&
    (counts.get(organization) ?? 0) < (limitOf(limits, organization) ?? Number.POSITIVE_INFINITY);
};

const freeFor = (slots: Slots, limits: SlotLimits): Slots['waiting'] => {
  const isFree = freeSlots(slots, limits);
  return slots.waiting.filter(({ organization }) => isFree(organization));
};

/** Whether no organization that waits for a slot has to be served before another round begins. */
const isRoundOver = ({ served }: Slots, waiting: Slots['waiting']): boolean =>
  waiting.every(({ organization }) => served.includes(organization));

/** The organization that gets the next slot; undefined if none waits, or no slot is free for those that do. */
export const nextOrganization = (slots: Slots, limits: SlotLimits): string | undefined => {
  const waiting = freeFor(slots, limits);
  const { served } = slots;
  const inTurn = isRoundOver(slots, waiting)
    ? waiting
    : waiting.filter(({ organization }) => !served.includes(organization));
  return (inTurn.find(({ next }) => next === 'apply') ?? inTurn[0])?.organization;
};

/** Whether the organization may take a slot without waiting: one is free, and no other run waits for it. */
export const mayPass = (slots: Slots, limits: SlotLimits, organization: string): boolean =>
  freeSlots(slots, limits)(organization) && nextOrganization(slots, limits) === undefined;

export const held = (slots: Slots, name: SlotName, organization: string): Slots => ({
  ...slots,
  held: { ...slots.held, [name]: organization },
});

/** Without these slots. */
export const freed = (slots: Slots, names: SlotName[]): Slots => ({
  ...slots,
  held: Object.fromEntries(Object.entries(slots.held).filter(([name]) => !names.includes(name as SlotName))),
});

/** The organization waits, with at least this phase. */
export const enlisted = (slots: Slots, organization: string, next: PhaseName): Slots => {
  const listed = slots.waiting.find((one) => one.organization === organization);
  if (!listed) return { ...slots, waiting: [...slots.waiting, { organization, next }] };
  if (listed.next === 'apply' || next === 'plan') return slots;
  return { ...slots, waiting: slots.waiting.map((one) => (one === listed ? { organization, next } : one)) };
};

/** The organization no longer waits. */
export const delisted = (slots: Slots, organization: string): Slots => {
  const waiting = slots.waiting.filter((one) => one.organization !== organization);
  return { ...slots, waiting, served: waiting.length ? slots.served : [] };
};

/**
 * Gives a slot to the organization whose turn it is.
 * @param next the phase of it that waits after this one
 */
export const granted = (
  slots: Slots,
  limits: SlotLimits,
  { name, organization, next }: { name: SlotName; organization: string; next?: PhaseName },
): Slots => {
  const others = isRoundOver(slots, freeFor(slots, limits)) ? [] : slots.served;
  const served = [...others.filter((one) => one !== organization), organization];
  const left = delisted(held({ ...slots, served }, name, organization), organization);
  return next ? { ...left, served, waiting: [...left.waiting, { organization, next }] } : left;
};

/** Whether another phase could have the slot if this one returned it. */
export const isWanted = (slots: Slots, limits: SlotLimits, name: SlotName): boolean =>
  name in slots.held && nextOrganization(freed(slots, [name]), limits) !== undefined;
