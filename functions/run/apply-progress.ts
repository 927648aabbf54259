/** The changes that an apply has started and not finished, from Terraform's output: JSON lines, or text. Pure. */

/** A resource that Terraform is creating, changing or destroying. */
export interface OpenChange {
  /** `aws_db_instance.main` */
  address: string;
  /** UTC ISO 8601. */
  since: string;
}

/** Addresses, at most {@link maxNamed} each. */
export interface AppliedChanges {
  done: string[];
  open: string[];
}

export const maxNamed = 20;

export interface ProgressLine {
  type?: string;
  hook?: { resource?: { addr?: string }; action?: string };
}

/** Prefix of a provisioner's output, which can be any text: `aws_instance.a (local-exec): …`. */
const provisioner = / \((local|remote)-exec\)$/;
/** `aws_instance.a: Creating...`, `… Still creating... [10s elapsed]`, `… Creation complete after 1s` */
const change =
  /^(\S.*?): (?:(Creation|Modifications|Destruction) complete\b|(?:Still )?(?:[Cc]reat|[Mm]odify|[Dd]estroy)ing\.\.\.)/;

/**
 * Terraform prints a line for each unfinished resource every 10 s. A resource without a line for longer has failed:
 * text output reports failures only at the end.
 */
const namedMs = 15_000;

export class ApplyProgress {
  readonly #done: string[] = [];
  readonly #open = new Map<string, { since: number; namedAt: number }>();

  /** @param at milliseconds since 1970 */
  readText(line: string, at: number): void {
    const [, address, completed] = change.exec(line) ?? [];
    if (address === undefined || provisioner.test(address.split(': ')[0] ?? '')) return;
    if (completed) this.#complete(address);
    else this.#named(address, at);
  }

  readJson({ type, hook }: ProgressLine, at: number): void {
    const address = hook?.resource?.addr;
    if (!address || hook.action === 'read') return;
    if (type === 'apply_start' || type === 'apply_progress') this.#named(address, at);
    if (type === 'apply_complete') this.#complete(address);
    if (type === 'apply_errored') this.#open.delete(address);
  }

  /** Completed changes, and changes that started and did not finish. */
  get changes(): AppliedChanges {
    return { done: [...this.#done], open: [...this.#open.keys()].slice(0, maxNamed) };
  }

  /** Changes in progress, the oldest first. */
  openAt(now: number): { address: string; since: number }[] {
    return [...this.#open]
      .filter(([, { namedAt }]) => now - namedAt < namedMs)
      .map(([address, { since }]) => ({ address, since }));
  }

  #complete(address: string): void {
    this.#open.delete(address);
    if (this.#done.length < maxNamed) this.#done.push(address);
  }

  #named(address: string, at: number): void {
    this.#open.set(address, { since: this.#open.get(address)?.since ?? at, namedAt: at });
  }
}
