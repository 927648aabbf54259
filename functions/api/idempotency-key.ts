import { createHash } from 'node:crypto';
import { ApiError, badRequest } from './errors.ts';
import type { ApiRequest } from './request.ts';

/**
 * The header Idempotency-Key (draft-ietf-httpapi-idempotency-key-header): a caller's requests with the same key count
 * as one request, so that a client can repeat a POST whose response was lost.
 */

const header = 'idempotency-key';
const maxLength = 128;

/** Older keys are rejected: a client that still repeats the request is malfunctioning. */
const lifetimeHours = 24;

/** The draft puts keys in quotes; clients often omit them. */
const keyPattern = new RegExp(
  `^(?:"([\\x20-\\x21\\x23-\\x7e]{1,${maxLength}})"|([\\x21\\x23-\\x7e]{1,${maxLength}}))$`,
);

/** @throws {ApiError} 400 */
export const idempotencyKeyOf = (request: ApiRequest): string | undefined => {
  const value = request.header(header);
  if (value === undefined) return undefined;
  const [, quoted, plain] = keyPattern.exec(value) ?? [];
  const key = quoted ?? plain;
  if (key === undefined) {
    throw badRequest(
      `Idempotency-Key: must be 1 to ${maxLength} printable ASCII characters without quotes and spaces, such as a UUID.`,
    );
  }
  return key;
};

/** @throws {ApiError} 400 for a POST to a route without support for keys */
export const refuseIdempotencyKey = (request: ApiRequest): void => {
  if (request.method !== 'POST' || request.header(header) === undefined) return;
  throw badRequest(
    'Idempotency-Key: this request does not support it, so a repeat would not be recognized. Send it without the header; POST /api/v2/runs supports it.',
  );
};

const reused = (detail: string): ApiError => new ApiError(422, [{ title: 'idempotency key reused', detail }]);

/** 72 bits detect mistakes, and are short in an item that is written often. */
const hashCharacters = 12;

/** Hash of the body, which must be identical in a repeat. */
export const hashOfRequest = (request: ApiRequest): string =>
  createHash('sha256').update(request.bytesOfBody()).digest('base64url').slice(0, hashCharacters);

/**
 * @param first resource created by the first request with this key
 * @throws {ApiError} 422
 */
export const checkRepeat = (
  first: { id: string; createdAt: string; requestHash?: string },
  requestHash: string | undefined,
): void => {
  if (first.requestHash !== requestHash) {
    throw reused(
      `Idempotency-Key: was used for ${first.id} with another body. Send the same body again, or use a new key.`,
    );
  }
  if (Date.now() - Date.parse(first.createdAt) > lifetimeHours * 3600 * 1000) {
    throw reused(`Idempotency-Key: was used for ${first.id} more than ${lifetimeHours} hours ago. Use a new key.`);
  }
};
