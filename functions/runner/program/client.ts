import { messageOf, RefusedError, TransportError } from '#platform/net/transport/errors.ts';
import { type Answer, send } from '#platform/net/transport/http.ts';
import { type RetryBound, retryFor, retrying } from '#platform/net/transport/retry.ts';
import type {
  ClaimRequest,
  ErroredStateAnswer,
  Heartbeat,
  HeartbeatRequest,
  Job,
  ProvidersAnswer,
  ProvidersRequest,
  ReadyAnswer,
  ReadyRequest,
  ReportAnswer,
  ReportRequest,
  StateChangesRequest,
  StateVersionAnswer,
  StateVersionRequest,
  UploadsAnswer,
  UploadsRequest,
} from '#run/protocols/runner.ts';
import { TokenDeadError } from './errors.ts';

/** How long a call without its own deadline is retried. */
const callMs = 120_000;
/** After this time, the platform has given the run to another runner. */
const claimMs = 90_000;

const deadStatuses = [401, 410];
/** Retried besides 5xx: rate limits, and connections that a gateway cut off. */
const passingStatuses = [408, 425, 429];

const endpoint = (url: string, path: string): string => `${url}/runner/v1/${path}`;

/** The error message of the control plane, if its response has one. */
const errorIn = (text: string): string => {
  const words = /^\{"error":("(?:[^"\\]|\\.)*")\}$/.exec(text)?.[1];
  return (words ? (JSON.parse(words) as string) : text).slice(0, 500);
};

/** @throws {TransportError} if a proxy responded instead of the control plane */
const documentIn = <T>(path: string, body: Buffer): T => {
  try {
    return (body.length ? JSON.parse(body.toString('utf8')) : {}) as T;
  } catch {
    throw new TransportError(`${path}: the response is not JSON`);
  }
};

/** Converts a response into its body or an error; protocol.ts documents the statuses. */
const outcome = <T>(path: string, { status, body }: Answer): T => {
  if (status >= 200 && status < 300) return documentIn<T>(path, body);
  const message = `${path}: HTTP ${status} ${errorIn(body.toString('utf8'))}`;
  if (deadStatuses.includes(status)) throw new TokenDeadError(message);
  if (status >= 500 || passingStatuses.includes(status)) throw new TransportError(message);
  throw new RefusedError(message, status);
};

const postPlainly = <T>(
  path: string,
  { url, body, onSent }: { url: string; body: object; onSent?: () => void },
  patience: RetryBound,
): Promise<T> =>
  retrying(
    async () =>
      outcome<T>(
        path,
        await send(endpoint(url, path), {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: Buffer.from(JSON.stringify(body)),
          onSent,
          signal: patience.signal,
        }),
      ),
    patience,
  );

/**
 * Exchanges the claim for a job. Calls `onSent` each time the request has been sent.
 * @throws {TokenDeadError} if the run has ended or another runner has claimed it
 */
export const claimJob = (url: string, body: ClaimRequest, onSent?: () => void): Promise<Job> =>
  postPlainly('claim', { url, body, onSent }, retryFor(claimMs));

/** Polls for a ready runner's job. @throws {TokenDeadError} if another runner has registered in its place */
export const askForWork = (url: string, body: ReadyRequest, patience: RetryBound): Promise<ReadyAnswer> =>
  postPlainly('ready', { url, body }, patience);

/**
 * The control plane's client for one phase. Each call is retried until it gets a response, its deadline passes, or
 * the token is revoked.
 */
export class Client {
  readonly #url: string;
  readonly #token: string;
  readonly #signal: AbortSignal;
  readonly #onDead: (reason: string) => void;

  /** `onDead` is called when the control plane rejects the token; `signal` aborts all waiting. */
  constructor(url: string, token: string, signal: AbortSignal, onDead: (reason: string) => void) {
    this.#url = url;
    this.#token = token;
    this.#signal = signal;
    this.#onDead = onDead;
  }

  /** Retried until the phase ends, because users need the log to review the run. */
  log(offset: number, bytes: Uint8Array): Promise<Heartbeat> {
    return this.#post(`log?offset=${offset}`, bytes, 'application/octet-stream', {
      until: () => Number.POSITIVE_INFINITY,
    });
  }

  /** `renew` requests a new URL for the errored state. */
  heartbeat(patience: RetryBound, renew: boolean, body?: HeartbeatRequest): Promise<Heartbeat> {
    const path = renew ? 'heartbeat?renew=errored-state' : 'heartbeat';
    return body ? this.#json(path, body, patience) : this.#post(path, undefined, undefined, patience);
  }

  uploads(request: UploadsRequest): Promise<UploadsAnswer> {
    return this.#json('uploads', request);
  }

  providers(request: ProvidersRequest, patience: RetryBound): Promise<ProvidersAnswer> {
    return this.#json('providers', request, patience);
  }

  createStateVersion(request: StateVersionRequest, patience: RetryBound): Promise<StateVersionAnswer> {
    return this.#json('state-versions', request, patience);
  }

  storeStateChanges(request: StateChangesRequest, patience: RetryBound): Promise<unknown> {
    return this.#json('state-changes', request, patience);
  }

  completeStateVersion(id: string, patience: RetryBound): Promise<unknown> {
    return this.#post(`state-versions/${encodeURIComponent(id)}/complete`, undefined, undefined, patience);
  }

  erroredState(patience: RetryBound): Promise<ErroredStateAnswer> {
    return this.#post('errored-state', undefined, undefined, patience);
  }

  report(report: ReportRequest, patience: RetryBound): Promise<ReportAnswer> {
    return this.#json('report', report, patience);
  }

  #json<T>(path: string, body: unknown, patience?: RetryBound): Promise<T> {
    return this.#post(path, Buffer.from(JSON.stringify(body)), 'application/json', patience);
  }

  async #post<T>(path: string, body?: Uint8Array, type?: string, patience: RetryBound = retryFor(callMs)): Promise<T> {
    const headers: Record<string, string> = { authorization: `Bearer ${this.#token}` };
    if (type) headers['content-type'] = type;
    const signal = patience.signal ? AbortSignal.any([this.#signal, patience.signal]) : this.#signal;
    const call = { method: 'POST', headers, body, signal } as const;
    try {
      return await retrying(async () => outcome<T>(path, await send(endpoint(this.#url, path), call)), {
        until: patience.until,
        signal,
      });
    } catch (error) {
      if (error instanceof TokenDeadError) this.#onDead(messageOf(error));
      throw error;
    }
  }
}
