import { keys } from '#platform/store/keys.ts';
import { get, put } from '#platform/store/table.ts';

/** Announcements to everybody who signs in (Terraform Enterprise API: admin banners), all in one item; the newest first. */

export interface Banner {
  id: string;
  title: string;
  /** Sanitized (banner-text.ts). */
  body: string;
  style: 'info' | 'warning' | 'critical';
  audience: 'authenticated_only';
  /** All three or none; UTC. */
  scheduledPublishAt: string | null;
  scheduledExpireAt: string | null;
  timezone: string | null;
  createdAt: string;
  /** Ended by the operator, or by the one that came next. */
  deactivatedAt: string | null;
}

export interface Banners {
  version: number;
  banners: Banner[];
}

/** Older ones are forgotten; the audit trail has what was done. */
const maxBanners = 50;

/** 1 read. */
export const listBanners = async (): Promise<Banner[]> => (await get<Banners>(keys.banners))?.banners ?? [];

const attempts = 5;

/**
 * By one conditional write.
 * @param change runs again when somebody else changed them meanwhile
 * @returns undefined when others were faster every time
 */
export const changeBanners = async (change: (banners: Banner[]) => Banner[]): Promise<Banner[] | undefined> => {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const { version, banners } = (await get<Banners>(keys.banners)) ?? { version: 0, banners: [] };
    const next = change(banners).slice(0, maxBanners);
    const written = await put(
      { ...keys.banners, version: version + 1, banners: next },
      version === 0
        ? { condition: 'attribute_not_exists(pk)' }
        : { condition: 'version = :version', values: { ':version': version } },
    );
    if (written) return next;
  }
  return undefined;
};

/** When it is shown from; UTC. */
export const publishTime = ({ scheduledPublishAt, createdAt }: Banner): string => scheduledPublishAt ?? createdAt;

/** When it ended, or ends by its schedule. */
export const endTime = ({ deactivatedAt, scheduledExpireAt }: Banner): string | null =>
  deactivatedAt ?? scheduledExpireAt;

/** The one that is shown now: of those that are due and not over, the one published last. */
export const activeBanner = (banners: Banner[], now: string): Banner | undefined =>
  banners
    .filter((banner) => publishTime(banner) <= now && (endTime(banner) ?? '~') > now)
    .sort((a, b) => (publishTime(a) < publishTime(b) ? 1 : -1))[0];
