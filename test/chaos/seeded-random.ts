import { randomFrom } from '#infra/local/host/faults.ts';

/** Random choices of a campaign, all from one seed. */
export class Chance {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = randomFrom(seed);
  }

  /** A choice that depends only on the seed and the words, not on earlier choices. */
  static of(seed: number, ...words: (string | number)[]): Chance {
    let hash = seed;
    for (const character of words.join('/')) hash = (Math.imul(hash, 31) + character.charCodeAt(0)) | 0;
    return new Chance(hash);
  }

  /** A separate generator, so that its use does not change later choices of this one. */
  fork(): Chance {
    return new Chance(this.integer(2 ** 31));
  }

  between(low: number, high: number): number {
    return low + this.#random() * (high - low);
  }

  integer(below: number): number {
    return Math.floor(this.#random() * below);
  }

  /** Undefined for an empty list. */
  one<T>(of: readonly T[]): T | undefined {
    return of[this.integer(of.length)];
  }

  /** A name, with the probability of its weight. */
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
    return (entries[0] as [K, number])[0];
  }
}
