/** Heartbeats request a new URL when the last one is this old. */
const renewAfterMs = 5 * 60_000;

/**
 * URL for a state that could not be saved to the workspace, valid even if the control plane is unavailable. A
 * presigned URL expires with the credentials that signed it, regardless of its own expiry (S3: presigned URLs), so a
 * long apply gets fresh ones with its heartbeats.
 */
export class StateBackupUrl {
  #url: string | null;
  #at: number;
  readonly #now: () => number;

  /** @param url from the job; null for a plan, which has no state to lose */
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
