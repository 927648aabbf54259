import { gunzipSync, gzipSync } from 'node:zlib';
import type { OutboundFailure } from '../outbound/errors.ts';

/** Messages between the platform and a forwarding agent; encrypted in transit (box.ts). */

export interface ForwardedRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  url: string;
  headers: Record<string, string>;
  body?: string;
  /** Time limit in milliseconds, from the time at which an agent received the request. */
  totalMs: number;
  /** Maximum size of the response's body. */
  maxBytes: number;
  /** Presigned PUT for the response's body, instead of returning it; only for status 200. */
  uploadUrl?: string;
}

/** Response headers that are passed on. */
export const answerHeaders = [
  'content-type',
  'retry-after',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'ratelimit-reset',
  'location',
];

export interface ForwardedAnswer {
  status: number;
  headers: Record<string, string>;
  /** Empty if the body was uploaded. */
  body: Buffer;
}

/** Reason why there is no response, for users. */
export interface ForwardedFailure {
  failure: OutboundFailure;
  message: string;
}

/** An item of the table can have at most 400 KB, including its keys (DynamoDB: quotas). */
export const maxPacked = 380_000;
/** Maximum size after decompression, with the body in base64. */
const maxUnpacked = 24 * 1024 * 1024;

export const packAnswer = (answer: ForwardedAnswer | ForwardedFailure): Buffer => {
  const text = JSON.stringify('failure' in answer ? answer : { ...answer, body: answer.body.toString('base64') });
  return gzipSync(text);
};

/** @throws {Error} if it is not an answer */
export const unpackAnswer = (packed: Uint8Array): ForwardedAnswer | ForwardedFailure => {
  const text = gunzipSync(packed, { maxOutputLength: maxUnpacked }).toString('utf8');
  const answer = JSON.parse(text) as (Omit<ForwardedAnswer, 'body'> & { body: string }) | ForwardedFailure;
  return 'failure' in answer ? answer : { ...answer, body: Buffer.from(answer.body, 'base64') };
};
