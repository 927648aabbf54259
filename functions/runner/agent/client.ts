import { messageOf, RefusedError, TransportError } from '#platform/net/transport/errors.ts';
import { send } from '#platform/net/transport/http.ts';
import { type RetryBound, retrying } from '#platform/net/transport/retry.ts';
import type {
  JobEnd,
  NextRequest,
  NextWork,
  Ping,
  PingAnswer,
  RegisteredAgent,
  Registration,
  RequestAnswer,
  RequestPoll,
  WorkRequest,
} from '#run/protocols/agent.ts';
import { TokenDeadError } from '#runner/program/errors.ts';

/** The control plane has forgotten the agent: it must register again. */
export class ForgottenError extends Error {
  override name = 'ForgottenError';
}

/** Retried besides 5xx: rate limits, and connections that a gateway cut off. */
const passingStatuses = [408, 425, 429];

const errorIn = (text: string): string => {
  try {
    return String((JSON.parse(text) as { error?: string }).error ?? text);
  } catch {
    return text;
  }
};

/** Maximum numbers of characters of a response, and of an error in it, that a message quotes. */
const quoted = 80;
const quotedError = 500;

/**
 * Parses a response of the control plane. A proxy that interferes is a temporary problem; a wrong address responds
 * with something else from the start.
 * @throws {RefusedError, TransportError} if the response is not a JSON object
 */
const documentIn = <T>(call: string, text: string): T => {
  try {
    const document: unknown = JSON.parse(text);
    if (typeof document === 'object' && document !== null) return document as T;
  } catch {
    // Thrown below.
  }
  const message = `${call}: the response is not JSON: ${JSON.stringify(text.slice(0, quoted))}`;
  throw call === 'register' ? new RefusedError(message, 200) : new TransportError(message);
};

/** The control plane's client for one agent. Calls are retried until they succeed or their deadline passes. */
export class Client {
  readonly #address: string;
  readonly #token: string;

  /** @param address base URL, without a slash at the end */
  constructor(address: string, token: string) {
    this.#address = address;
    this.#token = token;
  }

  register(body: Registration, patience: RetryBound): Promise<RegisteredAgent> {
    return this.#post('register', body, patience);
  }

  next(body: WorkRequest, patience: RetryBound): Promise<NextWork> {
    return this.#post('next', body, patience);
  }

  ping(body: Ping, patience: RetryBound): Promise<PingAnswer> {
    return this.#post('ping', body, patience);
  }

  over(body: JobEnd, patience: RetryBound): Promise<unknown> {
    return this.#post('over', body, patience);
  }

  request(body: RequestPoll, patience: RetryBound): Promise<NextRequest> {
    return this.#post('request', body, patience);
  }

  answer(body: RequestAnswer, patience: RetryBound): Promise<unknown> {
    return this.#post('answer', body, patience);
  }

  /** @throws {TokenDeadError} 401 @throws {ForgottenError} 410 @throws {TransportError} after the deadline */
  #post<T>(call: string, body: object, patience: RetryBound): Promise<T> {
    return retrying(async () => {
      const answer = await send(`${this.#address}/agent/v1/${call}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' },
        body: Buffer.from(JSON.stringify(body)),
        signal: patience.signal,
      });
      const text = answer.body.toString('utf8');
      if (answer.status >= 200 && answer.status < 300) return documentIn<T>(call, text);
      const message = `${call}: HTTP ${answer.status} ${errorIn(text).slice(0, quotedError)}`;
      if (answer.status === 401) throw new TokenDeadError(message);
      if (answer.status === 410) throw new ForgottenError(message);
      if (answer.status >= 500 || passingStatuses.includes(answer.status)) throw new TransportError(message);
      throw new RefusedError(message, answer.status);
    }, patience);
  }
}

export { messageOf, RefusedError, TokenDeadError, TransportError };
