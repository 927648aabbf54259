import { type FaultRule, randomFrom } from '../../infra/local/faults.ts';

/** What happens when; all of it from one seed. */
export class Chance {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = randomFrom(seed);
  }

  between(low: number, high: number): number {
    return low + this.#random() * (high - low);
  }

  integer(below: number): number {
    return Math.floor(this.#random() * below);
  }

  one<T>(of: readonly T[]): T {
    return of[this.integer(of.length)] as T;
  }

  /** A name of those, as often as its weight says. */
  weighted<K extends string>(weights: Record<K, number>): K {
    const entries = Object.entries(weights) as [K, number][];
    let at = this.between(
      0,
      entries.reduce((sum, [, weight]) => sum + weight, 0),
    );
    for (const [name, weight] of entries) {
      at -= weight;
      if (at < 0) return name;
    }
    return entries[0]![0];
  }

  /** A few rules for the local AWS endpoint, none of which makes work impossible for long. */
  faults(): FaultRule[] {
    return Array.from({ length: 2 + this.integer(3) }, () => this.one(recipes)(this));
  }
}

const seeded = (chance: Chance, probability: number) => ({ probability, seed: chance.integer(1e6) });

const recipes: ((chance: Chance) => FaultRule)[] = [
  (c) => ({ kind: 'refuse', service: 'dynamodb', ...seeded(c, 0.05) }),
  // More than a client's own retries get over.
  (c) => ({ kind: 'refuse', service: 'dynamodb', nth: 1 + c.integer(60), times: 6 }),
  (c) => ({ kind: 'refuse', service: 'dynamodb', error: 'InternalServerError', ...seeded(c, 0.05) }),
  (c) => ({ kind: 'refuse', service: 's3', ...seeded(c, 0.2) }),
  (c) => ({ kind: 'refuse', service: 's3', error: 'InternalError', nth: 1 + c.integer(10), times: 6 }),
  (c) => ({ kind: 'refuse', service: 'states', ...seeded(c, 0.1) }),
  (c) => ({ kind: 'refuse', service: 'states', nth: 1 + c.integer(10), times: 4 }),
  (c) => ({ kind: 'refuse', service: 'kms', ...seeded(c, 0.2) }),
  (c) => ({ kind: 'refuse', action: 'RunTask', nth: 1, times: 1 + c.integer(2) }),
  (c) => ({ kind: 'refuse', service: 'ecs', error: 'ThrottlingException', ...seeded(c, 0.2) }),
  (c) => ({ kind: 'lose-answer', service: 'dynamodb', ...seeded(c, 0.05) }),
  (c) => ({ kind: 'lose-answer', service: 's3', ...seeded(c, 0.2) }),
  (c) => ({ kind: 'lose-answer', service: 'states', ...seeded(c, 0.2) }),
  (c) => ({ kind: 'lose-answer', service: 'ecs', ...seeded(c, 0.3) }),
  (c) => ({ kind: 'slow', ms: Math.round(c.between(20, 3000)), ...seeded(c, 0.05) }),
  (c) => ({ kind: 'kill', ...seeded(c, 0.02) }),
  (c) => ({ kind: 'kill-after', ...seeded(c, 0.02) }),
  (c) => ({ kind: 'kill-after', service: 'dynamodb', nth: 1 + c.integer(40) }),
  (c) => ({ kind: 'duplicate', ...seeded(c, 0.5) }),
  (c) => ({ kind: 'late', ms: Math.round(c.between(100, 10_000)), ...seeded(c, 0.5) }),
  (c) => ({ kind: 'lose', ...seeded(c, 0.5) }),
];
