import * as v from 'valibot';
import { commitForm, type Sender } from '../events.ts';

/** Parts of GitHub's documents, in responses and webhooks. */

export const sha = v.pipe(v.string(), v.regex(commitForm));
export const id = v.pipe(
  v.union([v.number(), v.string()]),
  v.transform((given) => String(given)),
);
/** A URL for links on pages and in payloads. Other values, which the forge or its users may send, are dropped. */
const address = v.pipe(v.string(), v.regex(/^https?:\/\/[^\s\p{Cc}]+$/u), v.maxLength(2000));
export const webUrl = v.fallback(address, '');
export const optionalWebUrl = v.fallback(v.nullable(address), null);
export const sender = v.object({
  login: v.string(),
  avatar_url: optionalWebUrl,
  html_url: optionalWebUrl,
});
export const senderOf = (given: v.InferOutput<typeof sender> | null | undefined): Sender | null =>
  given ? { username: given.login, avatarUrl: given.avatar_url, htmlUrl: given.html_url } : null;

export const repository = v.object({
  id,
  full_name: v.string(),
  default_branch: v.nullish(v.string(), null),
  html_url: webUrl,
  clone_url: webUrl,
  permissions: v.nullish(v.object({ admin: v.optional(v.boolean(), false) })),
});
