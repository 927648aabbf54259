import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A receiver of traces for tests: OTLP/HTTP with JSON, as a collector takes it in. */

export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: { stringValue?: string; intValue?: string; boolValue?: boolean } }[];
  events?: { name: string; timeUnixNano: string }[];
  links?: { traceId: string; spanId: string }[];
  status?: { code: number; message: string };
}

interface ReceivedTrace {
  path: string | undefined;
  headers: IncomingHttpHeaders;
  spans: ReceivedSpan[];
}

export class OtlpReceiver {
  readonly received: ReceivedTrace[] = [];
  /** Status of the next responses. */
  status = 200;
  readonly #server: Server;
  #port = 0;

  private constructor() {
    this.#server = createServer(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
      const { resourceSpans } = JSON.parse(Buffer.concat(parts).toString());
      this.received.push({
        path: request.url,
        headers: request.headers,
        spans: resourceSpans[0].scopeSpans[0].spans,
      });
      response.writeHead(this.status, { 'content-type': 'application/json' }).end('{}');
    });
  }

  static async start(): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver();
    await receiver.open();
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Listens, after {@link close} on the same port. */
  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** The spans of a run's trace, if it was received. */
  spansOf(runId: string): ReceivedSpan[] | undefined {
    return this.received.find(({ spans }) => spans.some((span) => textOf(span, 'cicd.pipeline.run.id') === runId))
      ?.spans;
  }
}

export const textOf = ({ attributes }: ReceivedSpan, key: string): string | undefined =>
  attributes.find((attribute) => attribute.key === key)?.value.stringValue;

/**
 * Checks that the spans are one whole tree: one trace, one root, each span with its own id and within its parent's time.
 * @returns the names of the spans below the root, each as the path of names that leads to it, in order of their start
 * @throws {Error} that names the span
 */
export const treeOf = (spans: ReceivedSpan[]): string[] => {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  if (byId.size !== spans.length) throw new Error('spans share ids');
  if (new Set(spans.map(({ traceId }) => traceId)).size !== 1) throw new Error('spans have several trace ids');
  const [root, ...others] = spans.filter(({ parentSpanId }) => parentSpanId === undefined);
  if (!root || others.length > 0) throw new Error(`${others.length + (root ? 1 : 0)} roots`);
  const time = (text: string) => BigInt(text);
  const pathOf = (span: ReceivedSpan): string => {
    if (time(span.endTimeUnixNano) < time(span.startTimeUnixNano))
      throw new Error(`${span.name} ends before its start`);
    if (span === root) return '';
    const parent = byId.get(span.parentSpanId ?? '');
    if (!parent) throw new Error(`${span.name} has no parent`);
    const isWithin =
      time(span.startTimeUnixNano) >= time(parent.startTimeUnixNano) &&
      time(span.endTimeUnixNano) <= time(parent.endTimeUnixNano);
    if (!isWithin) throw new Error(`${span.name} is not within ${parent.name}`);
    const above = pathOf(parent);
    return above ? `${above} > ${span.name}` : span.name;
  };
  const paths = spans.map((span) => ({ path: pathOf(span), at: time(span.startTimeUnixNano) }));
  return paths
    .filter(({ path }) => path !== '')
    .sort((a, b) => Number(a.at - b.at))
    .map(({ path }) => path);
};
