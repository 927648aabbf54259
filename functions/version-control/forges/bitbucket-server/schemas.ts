import * as v from 'valibot';
import type { Sender } from '../events.ts';
import { id, webUrl } from '../github/schemas.ts';

/** Parts of Bitbucket Data Center's documents, in responses and webhooks. */

export const user = v.object({ id, name: v.string() });
export const senderOf = (given: v.InferOutput<typeof user> | null | undefined): Sender | null =>
  given ? { username: given.name, avatarUrl: null, htmlUrl: null } : null;

/** Absent from webhooks. */
const addresses = v.array(v.object({ href: webUrl }));
export const self = v.fallback(v.object({ self: addresses }), { self: [] });
export const addressIn = ({ self: [first] }: v.InferOutput<typeof self>): string => first?.href ?? '';
