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
  /** Time limit of the call. */
  timeoutMs?: number;
}

export interface DirectReply {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: Buffer;
}

/** `name` is the error's code. */
export interface TableRefusal extends Error {
  /** HTTP status. */
  status: number;
}

/** All reject like a connection that ends without a response. */
export interface DirectCalls {
  request(request: DirectRequest): Promise<DirectReply>;
  /**
   * DynamoDB by values: no text is written or read. The output is nobody else's; binary values are byte arrays.
   * @param operation as IAM has it, e.g. `GetItem`
   * @throws {TableRefusal}
   */
  table(operation: string, input: object): Promise<object>;
}

/** Undefined where requests are signed and sent. */
export const directCalls = (process as unknown as Record<symbol, DirectCalls | undefined>)[
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
  const calls = directCalls;
  if (!calls) return {};
  return {
    endpointProvider: () => noEndpoint,
    signer: { sign: async (request: SdkRequest) => request },
    requestHandler: {
      handle: async ({ method, path, headers, body }: SdkRequest) => {
        const { status, ...reply } = await calls.request({ service, method, path, headers, body });
        return { response: { statusCode: status, ...reply } };
      },
    },
  };
};
