import { gunzipSync, gzipSync } from 'node:zlib';
import type { OutboundFailure } from '../outbound/errors.ts';

/** What a platform has an agent do, and what comes of it; sealed on the way (box.ts). */

export interface ForwardedRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  url: string;
  headers: Record<string, string>;
  body?: string;
  /** Milliseconds for all of it, once an agent has it. */
  totalMs: number;
  /** Of the answer's body. */
  maxBytes: number;
  /** Where the answer's body goes, by PUT, instead of into the answer; only that of an answer with status 200. */
  uploadUrl?: string;
}

/** Those of an answer that mean something. */
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
  /** Of an uploaded body: none. */
  body: Buffer;
}

/** There is no answer, and why not, for people. */
export interface ForwardedFailure {
  failure: OutboundFailure;
  message: string;
}

/** An item of the table has 400 KB, with its keys. */
export const maxPacked = 380_000;
/** What may unpack from that. */
const maxUnpacked = 12 * 1024 * 1024;

export const packAnswer = (answer: ForwardedAnswer | ForwardedFailure): Buffer => {
  const text = JSON.stringify('failure' in answer ? answer : { ...answer, body: answer.body.toString('base64') });
  return gzipSync(text);
};

/** @throws {Error} for what is no answer */
export const unpackAnswer = (packed: Uint8Array): ForwardedAnswer | ForwardedFailure => {
  const text = gunzipSync(packed, { maxOutputLength: maxUnpacked * 2 }).toString('utf8');
  const answer = JSON.parse(text) as (Omit<ForwardedAnswer, 'body'> & { body: string }) | ForwardedFailure;
  return 'failure' in answer ? answer : { ...answer, body: Buffer.from(answer.body, 'base64') };
};
