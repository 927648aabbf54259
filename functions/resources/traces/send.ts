import { setTimeout as sleep } from 'node:timers/promises';
import { environment } from '#platform/environment.ts';
import { OutboundError } from '#platform/net/outbound/errors.ts';
import { send } from '#platform/net/outbound/send.ts';
import { logWarning } from '#platform/store/log.ts';
import { readParameter } from '#platform/store/parameters.ts';

/** OTLP/HTTP: failures after which a client repeats the request. */
const passing = [429, 502, 503, 504];
const pausesMs = [1000, 4000];

/** The last trace was not delivered, which the log has. */
let failing = false;

/** Why the headers cannot be used; never contains a part of them. */
class HeadersError extends Error {
  override name = 'HeadersError';
}

/**
 * `api-key=secret,x-team=a%20b`: as in OTEL_EXPORTER_OTLP_HEADERS (OpenTelemetry Protocol Exporter: specifying headers).
 * @throws {HeadersError}
 */
export const readHeaders = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split(',')
      .filter((part) => part.trim() !== '')
      .map((part, i) => {
        const [, name = '', value = ''] = /^\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*([\x21-\x7e]*)\s*$/.exec(part) ?? [];
        if (!name) throw new HeadersError(`header ${i + 1} is not name=value`);
        try {
          return [name.toLowerCase(), decodeURIComponent(value)];
        } catch {
          throw new HeadersError(`the value of header ${name} is not percent-encoded UTF-8`);
        }
      }),
  );

const headersOf = async ({ parameter, text } = environment.otlpHeaders): Promise<Record<string, string>> =>
  readHeaders(parameter ? await readParameter(parameter) : text);

/** One request. @returns the reason of a failure, and whether a retry can succeed */
const attempt = async (url: string, headers: Record<string, string>, body: string) => {
  try {
    const request = { method: 'POST', url, headers: { ...headers, 'content-type': 'application/json' }, body } as const;
    const { status } = await send(request, { sameOrigin: true });
    if (status >= 200 && status < 300) return undefined;
    return { reason: `it answered ${status}`, again: passing.includes(status) };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    return { reason: error.message, again: error.failure !== 'forbidden' };
  }
};

/**
 * Sends a trace to the operator's receiver, at most three times, and once while the receiver is failing. A receiver that
 * fails is named in the log once, until it accepts a trace again; the traces of that time are lost.
 */
export const sendTrace = async (body: string): Promise<void> => {
  const { otlpEndpoint } = environment;
  if (!otlpEndpoint) return;
  const url = `${otlpEndpoint}/v1/traces`;
  const failure = await deliver(url, body).catch(({ name, message }: Error) => ({ reason: `${name}: ${message}` }));
  if (failure && !failing) logWarning('traces are not delivered', { url, reason: failure.reason });
  failing = failure !== undefined;
};

const deliver = async (url: string, body: string) => {
  const headers = await headersOf();
  for (const pause of failing ? [] : pausesMs) {
    const failure = await attempt(url, headers, body);
    if (!failure?.again) return failure;
    await sleep(pause);
  }
  return attempt(url, headers, body);
};
