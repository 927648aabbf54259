import type { Message } from '../../client/text/terraform-json.ts';

/** When Terraform began and ended work on each resource, from its machine-readable output. */

export type Work = 'refresh' | 'read' | 'create' | 'update' | 'delete' | 'other';

export interface Span {
  address: string;
  work: Work;
  /** Milliseconds since 1970. */
  from: number;
  /** Undefined while it goes on. */
  to: number | undefined;
  failed: boolean;
  /** Index of the line of the log that it began with. */
  line: number;
}

const works: readonly string[] = ['read', 'create', 'update', 'delete'];

const workOf = (action: string | undefined): Work =>
  action !== undefined && works.includes(action) ? (action as Work) : 'other';

/** `apply_start` → `apply`, `start` */
const form = /^(apply|refresh|ephemeral_op)_(start|complete|errored)$/;

export class ResourceTimes {
  readonly spans: Span[] = [];
  /** Of what was said last, milliseconds since 1970. */
  latest = 0;
  readonly #open = new Map<string, Span>();

  /** @param line index of the line it is shown on */
  take({ type = '', hook }: Message, at: number, line: number): void {
    this.latest = Math.max(this.latest, at);
    const [, what, step] = form.exec(type) ?? [];
    const address = hook?.resource?.addr;
    if (!what || !address) return;
    const work = what === 'refresh' ? 'refresh' : workOf(hook.action);
    const key = `${what} ${hook.action ?? ''} ${address}`;
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

/** How long it took, or has taken by then. */
export const tookMs = ({ from, to }: Span, now: number): number => Math.max(0, (to ?? now) - from);

export interface Slow {
  span: Span;
  /** The last to end of what it depends on; it could not begin before that. */
  after: Span | undefined;
}

/** `module.a["x"].aws_vpc.main[0]` → `module.a.aws_vpc.main`: as it stands in the configuration. */
export const configured = (address: string): string => address.replaceAll(/\[(?:\d+|"(?:[^"\\]|\\.)*")\]/g, '');

/**
 * Those that took longest, the slowest first.
 * @param dependencies what a resource of the configuration depends on, by its address there
 * @param now for those that go on, milliseconds since 1970
 */
export const slowest = (spans: Span[], dependencies: Record<string, string[]>, now: number, most = 10): Slow[] => {
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
    .slice(0, most)
    .map((span) => ({ span, after: waited(span) }));
};
