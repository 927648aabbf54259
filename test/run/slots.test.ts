import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PhaseName } from '#run/run.ts';
import {
  ceilingOf,
  enlisted,
  freed,
  granted,
  held,
  isLimited,
  isWanted,
  mayPass,
  nextOrganization,
  noSlots,
  type SlotLimits,
  type SlotName,
  type Slots,
} from '#run/slots.ts';

interface Waiting {
  name: SlotName;
  phase: PhaseName;
}

/** Phases that come and go, and the queues of their organizations as the table has them. */
class Model {
  slots: Slots = noSlots;
  readonly queues = new Map<string, Waiting[]>();
  /** Organizations in the order in which they got slots. */
  readonly grants: string[] = [];
  readonly limits: SlotLimits;
  #count = 0;

  constructor(limits: SlotLimits) {
    this.limits = limits;
  }

  queueOf(organization: string): Waiting[] {
    const queue = this.queues.get(organization) ?? [];
    this.queues.set(organization, queue);
    return queue;
  }

  arrive(organization: string, phase: PhaseName): void {
    const name: SlotName = `run-${++this.#count}.${phase}`;
    if (mayPass(this.slots, this.limits, organization)) {
      this.slots = held(this.slots, name, organization);
      return;
    }
    const queue = this.queueOf(organization);
    const place = phase === 'apply' ? queue.findIndex((one) => one.phase === 'plan') : -1;
    queue.splice(place === -1 ? queue.length : place, 0, { name, phase });
    this.slots = enlisted(this.slots, organization, phase);
    this.grant();
  }

  leave(which: number): void {
    const names = Object.keys(this.slots.held) as SlotName[];
    if (names.length) this.slots = freed(this.slots, [names[which % names.length] as SlotName]);
    this.grant();
  }

  grant(): void {
    for (;;) {
      const organization = nextOrganization(this.slots, this.limits);
      if (organization === undefined) return;
      const queue = this.queueOf(organization);
      const first = queue.shift() as Waiting;
      this.slots = granted(this.slots, this.limits, { name: first.name, organization, next: queue[0]?.phase });
      this.grants.push(organization);
    }
  }

  isFree(organization: string): boolean {
    const holders = Object.values(this.slots.held);
    const { platform = 1e9, organization: each = 1e9, organizations = {} } = this.limits;
    const own = holders.filter((one) => one === organization).length;
    return holders.length < platform && own < (organizations[organization] ?? each);
  }
}

const names = ['acme', 'beta', 'core', 'dune'];
const phase = fc.constantFrom<PhaseName>('plan', 'plan', 'apply');
const event = fc.oneof(
  { weight: 3, arbitrary: fc.record({ by: fc.constantFrom(...names), phase }) },
  { weight: 2, arbitrary: fc.record({ which: fc.nat(20) }) },
);
const limits = fc.record(
  {
    platform: fc.integer({ min: 1, max: 4 }),
    organization: fc.integer({ min: 1, max: 3 }),
    organizations: fc.constant({ acme: 1 }),
  },
  { requiredKeys: ['platform'] },
);

describe('slots of runners', () => {
  it('never exceed a limit, are never free while someone could have them, and are shared in turn', () => {
    fc.assert(
      fc.property(limits, fc.array(event, { minLength: 20, maxLength: 120 }), (limits, events) => {
        const model = new Model(limits);
        /** Grants to each other organization while this one waited for nothing but its turn. */
        const passedBy = new Map<string, string[]>();
        for (const one of events) {
          const before = model.grants.length;
          if ('by' in one) model.arrive(one.by, one.phase);
          else model.leave(one.which);
          const { held, waiting, served } = model.slots;
          expect(Object.keys(held).length).toBeLessThanOrEqual(limits.platform);
          for (const organization of names) {
            const own = Object.values(held).filter((name) => name === organization).length;
            expect(own).toBeLessThanOrEqual(ceilingOf(limits, organization) ?? 0);
            const waits = model.queueOf(organization).length > 0;
            expect(waits && model.isFree(organization), 'a slot is free').toBe(false);
            expect(waiting.some((listed) => listed.organization === organization)).toBe(waits);
            const others = passedBy.get(organization) ?? [];
            const fresh = model.grants.slice(before);
            const isAtItsLimit = own >= (ceilingOf({ ...limits, platform: undefined }, organization) ?? 1e9);
            const waitsForTurn = waits && !isAtItsLimit && !fresh.includes(organization);
            passedBy.set(organization, waitsForTurn ? [...others, ...fresh] : []);
            for (const other of names) {
              const times = (passedBy.get(organization) ?? []).filter((name) => name === other).length;
              expect(times, `${other} passed ${organization}`).toBeLessThanOrEqual(2);
            }
          }
          expect(new Set(served).size).toBe(served.length);
        }
      }),
      { numRuns: Number(process.env.QUEUE_RUNS ?? 100) },
    );
  });

  it('an organization with 500 queued plans delays the only run of another one by at most one run', () => {
    const model = new Model({ platform: 1 });
    for (let i = 0; i <= 500; i++) model.arrive('acme', 'plan');
    model.leave(0);
    model.arrive('beta', 'plan');
    model.leave(0);
    model.leave(0);
    expect(model.grants).toEqual(['acme', 'beta', 'acme']);
  });

  it('an apply comes before plans of its organization, and first in its round, but an organization with many applies delays no other', () => {
    const model = new Model({ platform: 1 });
    model.arrive('core', 'plan');
    for (let i = 0; i < 2; i++) model.arrive('acme', 'plan');
    for (let i = 0; i < 3; i++) model.arrive('beta', 'plan');
    for (let i = 0; i < 3; i++) model.arrive('beta', 'apply');
    expect(model.queueOf('beta').map((one) => one.phase)).toEqual(['apply', 'apply', 'apply', 'plan', 'plan', 'plan']);
    for (let i = 0; i < 8; i++) model.leave(0);
    expect(model.grants).toEqual(['beta', 'acme', 'beta', 'acme', 'beta', 'beta', 'beta', 'beta']);
  });

  it('an organization at its own limit delays no other', () => {
    const model = new Model({ platform: 3, organization: 1 });
    for (let i = 0; i < 5; i++) model.arrive('acme', 'apply');
    model.arrive('beta', 'plan');
    expect(Object.values(model.slots.held).sort()).toEqual(['acme', 'beta']);
  });

  it('a slot is wanted only if another run could have it', () => {
    const limits = { platform: 2, organization: 1 };
    const one = held(held(noSlots, 'run-1.plan', 'acme'), 'run-2.plan', 'beta');
    expect(isWanted(one, limits, 'run-1.plan')).toBe(false);
    const more = enlisted(one, 'acme', 'plan');
    expect(isWanted(more, limits, 'run-1.plan')).toBe(true);
    expect(isWanted(more, limits, 'run-2.plan'), 'acme is at its own limit').toBe(false);
    expect(isWanted(more, limits, 'run-3.plan')).toBe(false);
  });

  it('limits organizations by name in any case, and others by the number for each', () => {
    const limits = { organization: 3, organizations: { acme: 1 } };
    expect(['Acme', 'beta'].map((name) => ceilingOf(limits, name))).toEqual([1, 3]);
    expect(ceilingOf({ platform: 2, organization: 3 }, 'beta')).toBe(2);
    expect([undefined, {}, { organizations: { acme: 1 } }].map((one) => isLimited(one, 'beta'))).toEqual([
      false,
      false,
      false,
    ]);
  });
});
