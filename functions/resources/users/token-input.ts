import * as v from 'valibot';
import { unprocessable } from '#api/errors.ts';
import type { OtherFields } from '#api/known-attributes.ts';
import type { ApiRequest } from '#api/request.ts';
import { readData, setting, text } from '#api/validation.ts';

const otherFields: OtherFields = { shown: 'created-at last-used-at token', related: 'created-by team' };

const time = v.pipe(v.string(), v.isoTimestamp('must be a time such as 2030-01-31T00:00:00.000Z'));

/**
 * Attributes of a new token. All are optional, and so is the body (HCP API: generate a new organization or team
 * token).
 * @throws {ApiError} 422
 */
export const readToken = (request: ApiRequest): { description: string | null; expiredAt: string | null } => {
  if (JSON.stringify(request.json() ?? {}) === '{}') return { description: null, expiredAt: null };
  const { attributes } = readData(
    request,
    { description: setting(text(250)), 'expired-at': setting(time) },
    {},
    otherFields,
  );
  const expiry = attributes['expired-at'];
  const expiredAt = expiry ? new Date(expiry).toISOString() : null;
  if (expiredAt && expiredAt <= new Date().toISOString()) {
    throw unprocessable('/data/attributes/expired-at', 'expired-at: is in the past');
  }
  return { description: attributes.description ?? null, expiredAt };
};
