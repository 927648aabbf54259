import type { ComponentChildren } from 'preact';
import { type BannerPart, bannerParts } from '#platform/text/banner-text.ts';
import { clock } from '../live.ts';
import { banner } from '../session.ts';
import { Notice, type NoticeKind } from './basics.tsx';

/** The operator's announcement to all users (account-routes.ts). */

const kinds: Record<string, NoticeKind> = { info: 'info', warning: 'warn', critical: 'bad' };

const element = (part: BannerPart): ComponentChildren => {
  if (typeof part === 'string') return part;
  const children = part.parts.map(element);
  if (part.tag === 'a') {
    return (
      <a href={part.href} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
    );
  }
  const Tag = part.tag;
  return <Tag>{children}</Tag>;
};

export const Banner = () => {
  const shown = banner.value;
  if (!shown) return null;
  const { title, body, style, 'scheduled-expire-at': end } = shown;
  if (end !== null && Date.parse(end) <= clock.value) return null;
  return (
    <section aria-label="Announcement">
      <Notice kind={kinds[style] ?? 'info'}>
        <strong>{title}</strong> {bannerParts(body).map(element)}
      </Notice>
    </section>
  );
};
