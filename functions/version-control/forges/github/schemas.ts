import * as v from 'valibot';
import { commitForm, type Sender } from '../events.ts';

/** Parts of GitHub's documents, in responses and webhooks. */

export const sha = v.pipe(v.string(), v.regex(commitForm));
export const id = v.pipe(
  v.union([v.number(), v.string()]),
  v.transform((given) => String(given)),
);
export const sender = v.object({
  login: v.string(),
  avatar_url: v.nullish(v.string(), null),
  html_url: v.nullish(v.string(), null),
});
export const senderOf = (given: v.InferOutput<typeof sender> | null | undefined): Sender | null =>
  given ? { username: given.login, avatarUrl: given.avatar_url, htmlUrl: given.html_url } : null;

export const repository = v.object({
  id,
  full_name: v.string(),
  default_branch: v.nullish(v.string(), null),
  html_url: v.nullish(v.string(), ''),
  clone_url: v.nullish(v.string(), ''),
  permissions: v.nullish(v.object({ admin: v.optional(v.boolean(), false) })),
});
