import * as v from 'valibot';

/** Settings of the receiver of traces, and the variables of functions. */

const endpoint = v.pipe(
  v.string(),
  v.trim(),
  v.check(
    (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && !/[?#@]/.test(text),
    'must be the base URL of an OTLP/HTTP receiver, e.g. https://otlp.example.com',
  ),
  v.transform((text) => text.replace(/\/+$/, '')),
);

export const traceEntries = {
  /** Receives a trace of each run: OTLP over HTTP, at `/v1/traces` below this URL. Without it, no traces are sent. */
  otlpEndpoint: v.optional(endpoint),
  /** Name of a SecureString in Parameter Store with the headers of these requests: `api-key=…,x-team=…`. */
  otlpHeadersParameter: v.optional(
    v.pipe(v.string(), v.regex(/^[\w./-]+$/, 'must be the name of a parameter, e.g. /stepform/otlp-headers')),
  ),
};

/** Problems between settings that are each valid. */
export const traceProblems = ({ otlpEndpoint, otlpHeadersParameter }: Record<string, unknown>): string[] =>
  otlpHeadersParameter !== undefined && otlpEndpoint === undefined ? ['otlpHeadersParameter: needs otlpEndpoint'] : [];

interface TraceSettings {
  otlpEndpoint?: string;
  otlpHeadersParameter?: string;
}

/** Empty if not set. */
export const endpointVariable = ({ otlpEndpoint = '' }: TraceSettings) => ({ OTLP_ENDPOINT: otlpEndpoint });

/** For the function that sends traces. */
export const traceVariables = (settings: TraceSettings) => ({
  ...endpointVariable(settings),
  OTLP_HEADERS_PARAMETER: settings.otlpHeadersParameter ?? '',
  // Only on one machine, which has no Parameter Store.
  OTLP_HEADERS: '',
});

/**
 * The variables from the environment of the local platform.
 * @throws {Error} that names the variable
 */
export const localTraceVariables = ({
  STEPFORM_OTLP_ENDPOINT: text,
  STEPFORM_OTLP_HEADERS: headers = '',
}: NodeJS.ProcessEnv): Record<'OTLP_ENDPOINT' | 'OTLP_HEADERS', string> => {
  if (!text && headers) throw new Error('STEPFORM_OTLP_HEADERS: needs STEPFORM_OTLP_ENDPOINT');
  const { success, output, issues = [] } = v.safeParse(v.optional(endpoint), text || undefined);
  if (!success) throw new Error(`STEPFORM_OTLP_ENDPOINT ${issues[0]?.message} (it is ${text})`);
  return { OTLP_ENDPOINT: output ?? '', OTLP_HEADERS: headers };
};
