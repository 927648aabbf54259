import { putNext } from '#platform/store/edits.ts';
import { keys } from '#platform/store/keys.ts';
import { get } from '#platform/store/table.ts';

/** Announcements to all signed-in users (Terraform Enterprise API: admin banners), all in one item, newest first. */

export interface Banner {
  id: string;
  title: string;
  /** Sanitized (banner-text.ts). */
  body: string;
  style: 'info' | 'warning' | 'critical';
  audience: 'authenticated_only';
  /** All three or none are set; UTC. */
  scheduledPublishAt: string | null;
  scheduledExpireAt: string | null;
  timezone: string | null;
  createdAt: string;
  /** Deactivated by the operator, or replaced by the next banner. */
  deactivatedAt: string | null;
}

export interface Banners {
  version: number;
  banners: Banner[];
}

/** Older banners are dropped; the audit trail keeps their changes. */
const maxBanners = 50;

/** 1 read. */
export const listBanners = async (): Promise<Banner[]> => (await get<Banners>(keys.banners))?.banners ?? [];

const attempts = 5;

/**
 * Changes the banners with one conditional write.
 * @param change runs again after a concurrent change
 * @returns undefined when every attempt met a concurrent change
 */
export const changeBanners = async (change: (banners: Banner[]) => Banner[]): Promise<Banner[] | undefined> => {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const { version, banners } = (await get<Banners>(keys.banners)) ?? { version: 0, banners: [] };
    const next = change(banners).slice(0, maxBanners);
    if (await putNext(keys.banners, { version, banners: next })) return next;
  }
  return undefined;
};

/** Start of its display; UTC. */
export const publishTime = ({ scheduledPublishAt, createdAt }: Banner): string => scheduledPublishAt ?? createdAt;

/** Past or scheduled end of its display. */
export const endTime = ({ deactivatedAt, scheduledExpireAt }: Banner): string | null =>
  deactivatedAt ?? scheduledExpireAt;

/** The banner to show now: the last published one that has not ended. */
export const activeBanner = (banners: Banner[], now: string): Banner | undefined =>
  banners
    .filter((banner) => publishTime(banner) <= now && (endTime(banner) ?? '~') > now)
    .sort((a, b) => (publishTime(a) < publishTime(b) ? 1 : -1))[0];
