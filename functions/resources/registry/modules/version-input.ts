import * as v from 'valibot';
import type { OtherFields } from '#api/known-attributes.ts';
import type { ApiRequest } from '#api/request.ts';
import { readData, setting, text } from '#api/validation.ts';
import { optionalWebAddress } from '#api/web-address.ts';
import { version } from '../versions.ts';
import type { ModuleVersion } from './records.ts';

/** Input of module versions (HCP API: registry modules). */

const versionFields: OtherFields = { shown: 'created-at error source status updated-at', related: 'registry-module' };

const newVersion = { version, 'commit-sha': setting(text(100)) };

/** @throws {ApiError} 400 or 422 */
export const readNewVersion = (request: ApiRequest): { version: string; commitSha?: string } => {
  const { attributes } = readData(request, newVersion, {}, versionFields);
  return { version: attributes.version, commitSha: attributes['commit-sha'] ?? undefined };
};

const deprecation = {
  deprecation: v.object({
    'deprecated-status': v.picklist(['Deprecated', 'Undeprecated']),
    reason: setting(text(1000)),
    link: optionalWebAddress(2000),
  }),
};

/** Null removes a deprecation. @throws {ApiError} 400 or 422 */
export const readDeprecation = (request: ApiRequest): NonNullable<ModuleVersion['deprecation']> | null => {
  const { attributes } = readData(
    request,
    deprecation,
    {},
    { ...versionFields, shown: `${versionFields.shown} commit-sha version` },
  );
  const { 'deprecated-status': status, reason, link } = attributes.deprecation;
  return status === 'Deprecated' ? { reason: reason ?? '', link: link ?? '' } : null;
};
