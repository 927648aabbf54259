import * as v from 'valibot';
import type { Sender } from '../events.ts';
import { optionalWebUrl } from '../github/schemas.ts';

/** Parts of Azure DevOps' documents, in responses and webhooks. */

export const person = v.object({
  id: v.string(),
  displayName: v.nullish(v.string(), ''),
  uniqueName: v.nullish(v.string()),
  imageUrl: optionalWebUrl,
});
type Person = v.InferOutput<typeof person>;

export const nameOf = ({ uniqueName, displayName, id }: Person): string => uniqueName || displayName || id;
export const senderOf = (given: Person | null | undefined): Sender | null =>
  given ? { username: nameOf(given), avatarUrl: given.imageUrl, htmlUrl: null } : null;

/** User name of the platform's service hooks; the password is the webhook's secret. */
export const azureHookUser = 'stepform';

/** `refs/heads/main` → `['heads', 'main']`; empty for other refs. */
export const partsOf = (ref: string): string[] => /^refs\/(heads|tags)\/(.+)$/.exec(ref)?.slice(1) ?? [];
export const branchOf = (ref: string): string => ref.replace(/^refs\/heads\//, '');
