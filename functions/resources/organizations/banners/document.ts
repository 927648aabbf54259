import { type Banner, endTime, publishTime } from './records.ts';

export const bannerDocument = (banner: Banner, now: string) => {
  const end = endTime(banner);
  return {
    id: banner.id,
    type: 'admin-banners',
    attributes: {
      title: banner.title,
      body: banner.body,
      style: banner.style,
      audience: banner.audience,
      'scheduled-publish-at': banner.scheduledPublishAt,
      'scheduled-expire-at': banner.scheduledExpireAt,
      timezone: banner.timezone,
      'published-at': publishTime(banner) <= now ? publishTime(banner) : null,
      'deactivated-at': end !== null && end <= now ? end : null,
    },
  };
};
