/**
 * Calls to AWS services in the same process: the local platform runs functions beside the services they call, and
 * takes requests without signature and connection. It knows which function it gave this to. Lambda offers nothing of
 * the kind.
 */

export interface DirectRequest {
  /** As in signatures, e.g. `dynamodb`. */
  service: string;
  method: string;
  /** With its query. */
  path: string;
  headers: Record<string, string>;
  body?: string | Uint8Array;
  /** What the body says, for who takes it without reading text; binary values are byte arrays. */
  input?: object;
  /** Time limit of the call. */
  timeoutMs?: number;
}

export interface DirectReply {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: Buffer;
  /** What the body says, nobody else's, where the request had an input; binary values are byte arrays. */
  output?: object;
}

/** Rejects like a connection that ends without a response. */
export type DirectCall = (request: DirectRequest) => Promise<DirectReply>;

/** Undefined where requests are signed and sent. */
export const directCall = (process as unknown as Record<symbol, DirectCall | undefined>)[
  Symbol.for('stepform.direct-calls')
];

interface SdkRequest {
  method: string;
  path: string;
  query?: Record<string, string | string[] | null>;
  headers: Record<string, string>;
  body?: string | Uint8Array;
}

/** Nobody resolves it. */
const noEndpoint = { url: new URL('http://in-memory.invalid') };

/** Settings that make a client of the AWS SDK use direct calls; none where there are none. */
export const directly = (service: string): object => {
  const call = directCall;
  if (!call) return {};
  return {
    endpointProvider: () => noEndpoint,
    signer: { sign: async (request: SdkRequest) => request },
    requestHandler: {
      handle: async ({ method, path, headers, body }: SdkRequest) => {
        const { status, ...reply } = await call({ service, method, path, headers, body });
        return { response: { statusCode: status, ...reply } };
      },
    },
  };
};
