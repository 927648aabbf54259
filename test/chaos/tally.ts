/** Counts events. With CHAOS_VERBOSE it also prints them. */
export class Tally {
  readonly #counts = new Map<string, number>();
  readonly #began = Date.now();

  add(what: string, times: number): void {
    if (times) this.#counts.set(what, (this.#counts.get(what) ?? 0) + times);
  }

  note(what: string, detail = ''): void {
    this.add(what, 1);
    this.say(what, detail);
  }

  say(what: string, detail: string): void {
    const seconds = ((Date.now() - this.#began) / 1000).toFixed(1).padStart(6);
    if (process.env.CHAOS_VERBOSE) console.log(`${seconds} ${what} ${detail}`);
  }

  summary(): string {
    return [...this.#counts]
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([what, count]) => `${String(count).padStart(6)}  ${what}`)
      .join('\n');
  }
}
