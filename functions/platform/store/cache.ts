/** Cache of this process, by text keys, limited in time and size. */
export class Cache<V> {
  readonly #entries = new Map<string, { value: V; until: number; weight: number }>();
  readonly #limits: { maxWeight: number; keptMs: number };
  #weight = 0;

  /** @param limits `maxWeight` is a number of entries unless they have weights; the oldest entries are evicted */
  constructor({ maxWeight, keptMs = Number.POSITIVE_INFINITY }: { maxWeight: number; keptMs?: number }) {
    this.#limits = { maxWeight, keptMs };
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    return entry && entry.until > Date.now() ? entry.value : undefined;
  }

  has(key: string): boolean {
    return (this.#entries.get(key)?.until ?? 0) > Date.now();
  }

  set(key: string, value: V, weight = 1): void {
    this.#delete(key);
    this.#entries.set(key, { value, until: Date.now() + this.#limits.keptMs, weight });
    this.#weight += weight;
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#limits.maxWeight) return;
      this.#delete(oldest);
    }
  }

  clear(): void {
    this.#entries.clear();
    this.#weight = 0;
  }

  #delete(key: string): void {
    this.#weight -= this.#entries.get(key)?.weight ?? 0;
    this.#entries.delete(key);
  }
}
