/** Ends every wait of a stopped scope; no Retry, Catch or client sees it. */
export class Halted extends Error {
  override name = 'Halted';
}

/** The unit of cancellation: an execution, or one attempt of a Map with its items. */
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

  /** Returns a function that removes the hook. */
  onCancel(hook: () => void): () => void {
    this.#hooks.add(hook);
    return () => this.#hooks.delete(hook);
  }

  /** A scope that ends with this one, or earlier; `release` it afterwards. */
  child(): { scope: Scope; release: () => void } {
    const scope = new Scope();
    if (this.#cancelled) scope.cancel();
    return { scope, release: this.onCancel(() => scope.cancel()) };
  }
}
