import { randomFrom } from '#infra/local/host/faults.ts';

/** What happens when; all of it from one seed. */
export class Chance {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = randomFrom(seed);
  }

  /** One that is always the same for the same words, however many choices were made before. */
  static of(seed: number, ...words: (string | number)[]): Chance {
    let hash = seed;
    for (const character of words.join('/')) hash = (Math.imul(hash, 31) + character.charCodeAt(0)) | 0;
    return new Chance(hash);
  }

  /** Its choices are its own: how many are made does not shift what comes after it. */
  fork(): Chance {
    return new Chance(this.integer(2 ** 31));
  }

  between(low: number, high: number): number {
    return low + this.#random() * (high - low);
  }

  integer(below: number): number {
    return Math.floor(this.#random() * below);
  }

  /** Undefined of nothing. */
  one<T>(of: readonly T[]): T | undefined {
    return of[this.integer(of.length)];
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
    return (entries[0] as [K, number])[0];
  }
}
