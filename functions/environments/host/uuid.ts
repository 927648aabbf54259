import { createHash, randomUUID } from 'node:crypto';
import { noteId } from '#platform/store/change-record.ts';
import { CoderError } from './errors.ts';

/** Coder's ids are UUIDs. */

/** Means "no id" in requests, because Go cannot omit an array. */
const nil = '00000000-0000-0000-0000-000000000000';

export const newUuid = (): string => noteId(randomUUID());

/** The owner of unclaimed prebuilds, who cannot sign in. Clients know this id. */
export const prebuildsUser = { id: 'prebuilds', username: 'prebuilds' };
const prebuildsUuid = 'c42fdf75-3097-471c-8c33-fb52454d81c0';

/** A UUID derived from one of our ids (RFC 9562: version 8). */
export const uuidOf = (origin: string): string => (origin === prebuildsUser.id ? prebuildsUuid : hashed(origin));

const hashed = (origin: string): string =>
  createHash('sha256')
    .update(origin)
    .digest('hex')
    .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5');

export const isUuid = (text: string): boolean =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text);

/** An id in a path. @throws {CoderError} 400 */
export const uuidIn = (text: string): string => {
  if (isUuid(text)) return text.toLowerCase();
  throw new CoderError(400, `Invalid UUID "${text.slice(0, 100)}".`);
};

/** An id in a body, where the nil UUID means none. */
export const presentUuid = (id: string | null | undefined): string | undefined =>
  !id || id === nil ? undefined : id.toLowerCase();
