import { setTimeout as delay } from 'node:timers/promises';
import { type DirectRequest, directCall } from './direct-calls.ts';

/**
 * Direct calls to DynamoDB in its own format: what the AWS SDK would send and read, with the same retries.
 */

export interface Operation {
  /** As in signatures, e.g. `dynamodb`. */
  service: string;
  /** `x-amz-target`: version of the API and operation. */
  target: string;
  maxTries: number;
}

/** A refusal; `name` is the error's code. */
class ServiceError extends Error {
  readonly pauseMs: number | undefined;

  /** @param pauseMs about how long to wait for the next try; undefined when there is to be none */
  constructor(name: string, message: string, pauseMs: number | undefined) {
    super(message);
    this.name = name;
    this.pauseMs = pauseMs;
  }
}

/** AWS SDK: standard retry mode. */
const throttling = /Throttl|ThroughputExceeded|LimitExceeded|TooManyRequests/;
const throttledMs = 500;
const failedMs = 100;
const maxPauseMs = 20_000;

/**
 * @returns the output; binary values are byte arrays, as in the input
 * @throws {ServiceError} what the service answered
 * @throws what the connection does
 */
export const callDirectly = async <O>(operation: Operation, input: object): Promise<O> => {
  const request = new JsonRequest(operation, input);
  for (let tries = 1; ; tries++) {
    try {
      return await attempt<O>(request);
    } catch (error) {
      const pauseMs = error instanceof ServiceError ? error.pauseMs : failedMs;
      if (pauseMs === undefined || tries >= operation.maxTries) throw error;
      await delay(Math.random() * Math.min(maxPauseMs, pauseMs * 2 ** (tries - 1)));
    }
  }
};

/** Nobody makes the text of a request whose input is taken. */
class JsonRequest implements DirectRequest {
  readonly service: string;
  readonly method = 'POST';
  readonly path = '/';
  readonly headers: Record<string, string>;
  readonly input: object;

  constructor({ service, target }: Operation, input: object) {
    this.service = service;
    this.headers = { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': target };
    this.input = input;
  }

  get body(): string {
    return JSON.stringify(this.input, inBase64);
  }
}

const attempt = async <O>(request: JsonRequest): Promise<O> => {
  if (!directCall) throw new Error(`${request.service} is not in this process`);
  const reply = await directCall(request);
  if (reply.output) return reply.output as O;
  const text = reply.body.toString();
  if (reply.status === 200) return JSON.parse(text, text.includes(binaryMark) ? inBytes : undefined) as O;
  const { __type = `Http${reply.status}`, ...said } = JSON.parse(text) as Refusal;
  const name = __type.split('#').at(-1) as string;
  const pauseMs = throttling.test(name) ? throttledMs : reply.status >= 500 ? failedMs : undefined;
  throw new ServiceError(name, said.message ?? said.Message ?? '', pauseMs);
};

interface Refusal {
  __type?: string;
  message?: string;
  Message?: string;
}

/** Attribute values: `{"B": "<base64>"}`; a map may have an entry of that name, but no text in it. */
const binaryMark = '"B":"';

/** For `JSON.stringify`: binary values as base64. */
export function inBase64(this: Record<string, unknown>, key: string, value: unknown): unknown {
  // A buffer has become something else by now.
  const own = this[key];
  return own instanceof Uint8Array ? Buffer.from(own.buffer, own.byteOffset, own.byteLength).toString('base64') : value;
}

const inBytes = (key: string, value: unknown): unknown =>
  key === 'B' && typeof value === 'string' ? new Uint8Array(Buffer.from(value, 'base64')) : value;
