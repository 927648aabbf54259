/**
 * Requests to AWS in one process: a host that runs functions beside the services they call takes requests as they are,
 * without signature and connection. It knows which function it gave this to. Lambda offers nothing of the kind.
 */

export interface DirectRequest {
  /** As in signatures, e.g. `dynamodb`. */
  service: string;
  method: string;
  /** With its query. */
  path: string;
  headers: Record<string, string>;
  body?: string | Uint8Array;
  /** Without an answer for so long, the call has failed. */
  timeoutMs?: number;
}

export interface DirectReply {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: Buffer;
}

/** Rejects as a connection does that ends without an answer. */
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

/** Settings that make a client of the AWS SDK use direct calls; none where there are none. */
export const directly = (service: string): object => {
  const call = directCall;
  if (!call) return {};
  return {
    signer: { sign: async (request: SdkRequest) => request },
    requestHandler: {
      handle: async ({ method, path, headers, body }: SdkRequest) => {
        const { status, ...reply } = await call({ service, method, path, headers, body });
        return { response: { statusCode: status, ...reply } };
      },
    },
  };
};
