/** An answer to a heartbeat brings a new one when the last is so old. */
const renewAfterMs = 5 * 60_000;

/**
 * Where a state goes that cannot become the workspace's, also while the control plane does not answer. A presigned URL is
 * good no longer than the credentials that signed it, whatever it says of itself (S3: presigned URLs): an apply of
 * hours gets young ones with its heartbeats.
 */
export class StateBackupUrl {
  #url: string | null;
  #at: number;
  readonly #now: () => number;

  /** @param url given with the job; null for a plan, which has no state to lose */
  constructor(url: string | null, now: () => number = () => Date.now()) {
    this.#url = url;
    this.#now = now;
    this.#at = now();
  }

  get url(): string | null {
    return this.#url;
  }

  get isOld(): boolean {
    return this.#url !== null && this.#now() - this.#at >= renewAfterMs;
  }

  renew(url: string): void {
    this.#url = url;
    this.#at = this.#now();
  }
}
