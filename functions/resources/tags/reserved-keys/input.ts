import * as v from 'valibot';
import type { OtherFields } from '#api/known-attributes.ts';
import { tagKey } from '#api/names.ts';
import type { ApiRequest } from '#api/request.ts';
import { readData, setting } from '#api/validation.ts';
import type { ReservedTagKeyValues } from './records.ts';

/** Input of reserved tag keys (HCP API: reserved tag keys). */

const key = v.pipe(
  v.string(),
  v.check(
    (key) => v.is(tagKey, key),
    'Key is invalid: at most 128 letters, digits, spaces and _ . : / = + - @, and no space at the beginning',
  ),
);

/** Read-only attributes. */
const otherFields: OtherFields = { shown: 'created-at updated-at', related: 'organization' };

const settings = { 'disable-overrides': setting(v.boolean()) };

/** @throws {ApiError} 400 or 422 */
export const readNewReservedTagKey = (request: ApiRequest): ReservedTagKeyValues => {
  const { attributes } = readData(request, { ...settings, key }, {}, otherFields);
  return { key: attributes.key, disableOverrides: attributes['disable-overrides'] ?? false };
};

/** @throws {ApiError} 400 or 422 */
export const readReservedTagKeyChange = (request: ApiRequest): Partial<ReservedTagKeyValues> => {
  const { attributes } = readData(request, { ...settings, key: v.optional(key) }, {}, otherFields);
  const disables = attributes['disable-overrides'];
  return {
    ...(attributes.key === undefined ? {} : { key: attributes.key }),
    ...(disables === undefined ? {} : { disableOverrides: disables ?? false }),
  };
};
