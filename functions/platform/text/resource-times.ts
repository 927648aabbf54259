import type { Message } from '#platform/text/terraform-json.ts';

/** Start and end of Terraform's work on each resource, from its machine-readable output. */

export type Work = 'refresh' | 'read' | 'create' | 'update' | 'delete' | 'other';

export interface Span {
  address: string;
  work: Work;
  /** Milliseconds since 1970. */
  from: number;
  /** Undefined while in progress. */
  to: number | undefined;
  failed: boolean;
  /** Index of its first log line. */
  line: number;
}

const works: readonly string[] = ['read', 'create', 'update', 'delete'];

const workOf = (action: string | undefined): Work =>
  action !== undefined && works.includes(action) ? (action as Work) : 'other';

/** `apply_start` → `apply`, `start` */
const form = /^(apply|refresh|ephemeral_op)_(start|complete|errored)$/;

export class ResourceTimes {
  readonly spans: Span[] = [];
  /** Time of the latest message, in milliseconds since 1970. */
  latest = 0;
  readonly #open = new Map<string, Span>();

  /** @param line index of the message's log line */
  take({ type = '', hook }: Message, at: number, line: number): void {
    this.latest = Math.max(this.latest, at);
    const [, operation, step] = form.exec(type) ?? [];
    const address = hook?.resource?.addr;
    if (!operation || !address) return;
    const work = operation === 'refresh' ? 'refresh' : workOf(hook.action);
    const key = `${operation} ${hook.action ?? ''} ${address}`;
    if (step === 'start') {
      const span: Span = { address, work, from: at, to: undefined, failed: false, line };
      this.spans.push(span);
      this.#open.set(key, span);
      return;
    }
    const span = this.#open.get(key);
    if (!span) return;
    span.to = Math.max(at, span.from);
    span.failed = step === 'errored';
    this.#open.delete(key);
  }
}

/** Duration, or elapsed time so far. */
export const tookMs = ({ from, to }: Span, now: number): number => Math.max(0, (to ?? now) - from);

export interface Slow {
  span: Span;
  /** The dependency that ended last, before which it could not start. */
  after: Span | undefined;
}

/** `module.a["x"].aws_vpc.main[0]` → `module.a.aws_vpc.main`: the address in the configuration. */
export const configured = (address: string): string => address.replaceAll(/\[(?:\d+|"(?:[^"\\]|\\.)*")\]/g, '');

/**
 * The slowest operations, slowest first.
 * @param dependencies by address in the configuration
 * @param now for unfinished ones, milliseconds since 1970
 */
export const slowest = (spans: Span[], dependencies: Record<string, string[]>, now: number, max = 10): Slow[] => {
  const byAddress = Map.groupBy(spans, ({ address }) => configured(address));
  const waited = (span: Span): Span | undefined => {
    const names = dependencies[configured(span.address)] ?? [];
    return names
      .flatMap((name) => byAddress.get(name) ?? [])
      .filter(({ to }) => to !== undefined && to <= span.from)
      .reduce<Span | undefined>((last, one) => (last && (last.to ?? 0) >= (one.to ?? 0) ? last : one), undefined);
  };
  return [...spans]
    .sort((a, b) => tookMs(b, now) - tookMs(a, now))
    .slice(0, max)
    .map((span) => ({ span, after: waited(span) }));
};
