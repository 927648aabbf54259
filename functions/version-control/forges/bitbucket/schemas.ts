import * as v from 'valibot';
import type { Sender } from '../events.ts';
import { webUrl } from '../github/schemas.ts';

/** Parts of Bitbucket Cloud's documents, in responses and webhooks. */

const href = v.fallback(v.object({ href: webUrl }), { href: '' });
export const links = v.fallback(v.object({ html: href }), { html: { href: '' } });

/** Accounts are compared by `uuid`: nicknames are not unique. */
export const user = v.object({
  uuid: v.string(),
  nickname: v.nullish(v.string()),
  display_name: v.nullish(v.string()),
  links: v.fallback(v.object({ avatar: href, html: href }), { avatar: { href: '' }, html: { href: '' } }),
});
type User = v.InferOutput<typeof user>;

export const nameOf = ({ nickname, display_name: displayName, uuid }: User): string => nickname ?? displayName ?? uuid;
export const senderOf = (given: User | null | undefined): Sender | null =>
  given
    ? { username: nameOf(given), avatarUrl: given.links.avatar.href || null, htmlUrl: given.links.html.href || null }
    : null;
