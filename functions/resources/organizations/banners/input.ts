import * as v from 'valibot';
import { unprocessable } from '#api/errors.ts';
import type { OtherFields } from '#api/known-attributes.ts';
import type { ApiRequest } from '#api/request.ts';
import { readData, text } from '#api/validation.ts';
import { sanitized } from '#platform/text/banner-text.ts';
import type { Banner } from './records.ts';

/** Input of banners (Terraform Enterprise API: admin banners). */

const title = v.pipe(text(100), v.minLength(1, 'must not be empty'));
const body = v.pipe(
  text(5000),
  v.transform(sanitized),
  v.minLength(1, 'must not be empty'),
  v.maxLength(255, 'may have at most 255 characters, tags included'),
);
const style = v.picklist(['info', 'warning', 'critical']);
const audience = v.literal(
  'authenticated_only',
  'can only be "authenticated_only": banners are shown to people who have signed in',
);
const time = v.optional(
  v.nullable(
    v.pipe(
      v.string(),
      v.isoTimestamp('must be a time such as 2030-01-31T00:00:00Z'),
      v.transform((at) => new Date(at).toISOString()),
    ),
  ),
);
const timezone = v.optional(
  v.nullable(
    v.pipe(
      text(100),
      v.check((name) => isTimezone(name), 'must be a timezone such as Europe/Berlin or UTC'),
    ),
  ),
);

const isTimezone = (name: string): boolean => {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: name }));
  } catch {
    return false;
  }
};

const schedule = { 'scheduled-publish-at': time, 'scheduled-expire-at': time, timezone };
const otherFields: OtherFields = { shown: 'published-at deactivated-at' };

export type BannerValues = Pick<
  Banner,
  'title' | 'body' | 'style' | 'audience' | 'scheduledPublishAt' | 'scheduledExpireAt' | 'timezone'
>;

/** @throws {ApiError} 422 */
export const checkSchedule = (
  values: Pick<BannerValues, 'scheduledPublishAt' | 'scheduledExpireAt' | 'timezone'>,
): void => {
  const { scheduledPublishAt: from, scheduledExpireAt: to, timezone: zone } = values;
  const all = [from, to, zone];
  if (all.every((text) => text === null)) return;
  if (!from || !to || !zone) {
    throw unprocessable(
      '/data/attributes/scheduled-publish-at',
      'scheduled-publish-at, scheduled-expire-at and timezone: give all three, or none to publish the banner at once',
    );
  }
  if (to <= from) {
    throw unprocessable(
      '/data/attributes/scheduled-expire-at',
      'scheduled-expire-at: must be later than scheduled-publish-at',
    );
  }
};

/** @throws {ApiError} 400 or 422 */
export const readNewBanner = (request: ApiRequest): BannerValues => {
  const { attributes } = readData(request, { title, body, style, audience, ...schedule }, {}, otherFields);
  const values = {
    title: attributes.title,
    body: attributes.body,
    style: attributes.style,
    audience: attributes.audience,
    scheduledPublishAt: attributes['scheduled-publish-at'] ?? null,
    scheduledExpireAt: attributes['scheduled-expire-at'] ?? null,
    timezone: attributes.timezone ?? null,
  };
  checkSchedule(values);
  return values;
};

/** @throws {ApiError} 400 or 422 */
export const readBannerChange = (request: ApiRequest): Partial<BannerValues> => {
  const optional = {
    title: v.optional(title),
    body: v.optional(body),
    style: v.optional(style),
    audience: v.optional(audience),
  };
  const { attributes } = readData(request, { ...optional, ...schedule }, {}, otherFields);
  const { 'scheduled-publish-at': from, 'scheduled-expire-at': to, timezone: zone, ...rest } = attributes;
  const values = Object.entries({ ...rest, scheduledPublishAt: from, scheduledExpireAt: to, timezone: zone });
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
};
