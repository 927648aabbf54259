/**
 * Calls to AWS services in the same process: the local platform runs functions beside the services that they call, and
 * accepts requests without signature and connection. Each function gets its own object, so that the platform knows the
 * caller. Lambda has no equivalent.
 */

export interface DirectRequest {
  /** Name in signatures, e.g. `dynamodb`. */
  service: string;
  method: string;
  /** Includes the query string. */
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

/** `name` is the error code. */
export interface TableRefusal extends Error {
  /** HTTP status. */
  status: number;
}

/** All methods reject like a connection that ends without a response. */
export interface DirectCalls {
  request(request: DirectRequest): Promise<DirectReply>;
  /**
   * DynamoDB with values instead of JSON text. The caller may change the output; binary values are byte arrays.
   * @param operation its name in IAM, e.g. `GetItem`
   * @throws {TableRefusal}
   */
  table(operation: string, input: object): Promise<object>;
}

/** Undefined if requests are signed and sent. */
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

/** Placeholder URL that is never resolved. */
const noEndpoint = { url: new URL('http://in-memory.invalid') };

/** Settings that make a client of the AWS SDK use direct calls; empty without direct calls. */
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
