/** Ends every wait of something that was stopped; never the business of a Retry or Catch, never seen by a client. */
export class Halted extends Error {
  override name = 'Halted';
}

/** What is cancelled together: an execution, or one attempt of a Map or Parallel with its branches. */
export class Scope {
  #cancelled = false;
  readonly #hooks = new Set<() => void>();

  get cancelled(): boolean {
    return this.#cancelled;
  }

  cancel(): void {
    if (this.#cancelled) return;
    this.#cancelled = true;
    for (const hook of [...this.#hooks]) hook();
    this.#hooks.clear();
  }

  /** Returns what takes the hook back. */
  onCancel(hook: () => void): () => void {
    this.#hooks.add(hook);
    return () => this.#hooks.delete(hook);
  }

  /** A scope that ends with this one, and may end before; `release` it when it is over. */
  child(): { scope: Scope; release: () => void } {
    const scope = new Scope();
    if (this.#cancelled) scope.cancel();
    return { scope, release: this.onCancel(() => scope.cancel()) };
  }
}
