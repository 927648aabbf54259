import { environment } from '#platform/environment.ts';
import { spanIdOf, traceIdOf } from '#platform/formats/trace-ids.ts';
import type { Attribute, TraceSpan } from './spans.ts';

/**
 * A trace as the body of `POST /v1/traces` (OpenTelemetry Protocol: JSON Protobuf Encoding): ids in hex, enumerations as
 * numbers, times as text, because nanoseconds exceed a number's precision.
 */

/** `SpanKind` and `StatusCode` of opentelemetry/proto/trace/v1/trace.proto. */
const kinds = { internal: 1, server: 2, client: 3 };
const errored = 2;

const nanoseconds = (ms: number): string => `${Math.round(ms * 1000)}000`;

const anyValue = (value: Attribute) => {
  if (typeof value === 'string') return { stringValue: value };
  return typeof value === 'boolean' ? { boolValue: value } : { intValue: String(value) };
};

const attributesOf = (attributes: Record<string, Attribute | undefined>) =>
  Object.entries(attributes).flatMap(([key, value]) => (value === undefined ? [] : [{ key, value: anyValue(value) }]));

const spanOf = (runId: string, span: TraceSpan) => ({
  traceId: traceIdOf(runId),
  spanId: spanIdOf(runId, span.key),
  ...(span.parent ? { parentSpanId: spanIdOf(runId, span.parent) } : {}),
  name: span.name,
  kind: kinds[span.kind ?? 'internal'],
  startTimeUnixNano: nanoseconds(span.from),
  endTimeUnixNano: nanoseconds(span.to),
  attributes: attributesOf(span.attributes ?? {}),
  ...(span.events
    ? { events: span.events.map(({ name, at }) => ({ name, timeUnixNano: nanoseconds(at), attributes: [] })) }
    : {}),
  ...(span.link ? { links: [{ ...span.link, attributes: [] }] } : {}),
  ...(span.failed === undefined ? {} : { status: { code: errored, message: span.failed } }),
});

export const exportRequest = (runId: string, spans: TraceSpan[]): string =>
  JSON.stringify({
    resourceSpans: [
      {
        resource: {
          attributes: attributesOf({ 'service.name': 'stepform', 'service.instance.id': environment.publicUrl }),
        },
        scopeSpans: [{ scope: { name: 'stepform' }, spans: spans.map((span) => spanOf(runId, span)) }],
      },
    ],
  });
