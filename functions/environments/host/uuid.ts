import { createHash, randomUUID } from 'node:crypto';
import { noteId } from '../../store/change-record.ts';
import { CoderError } from './errors.ts';

/** Coder's ids are UUIDs. */

/** In requests it means that nothing was given: Go leaves no array out. */
const nil = '00000000-0000-0000-0000-000000000000';

export const newUuid = (): string => noteId(randomUUID());

/** Who owns prebuilds until somebody claims them: nobody who could sign in. Clients know its id. */
export const prebuildsUser = { id: 'prebuilds', username: 'prebuilds' };
const prebuildsUuid = 'c42fdf75-3097-471c-8c33-fb52454d81c0';

/** The same for the same origin, in the form of a UUID (RFC 9562: version 8). */
export const uuidOf = (origin: string): string => (origin === prebuildsUser.id ? prebuildsUuid : hashed(origin));

const hashed = (origin: string): string =>
  createHash('sha256')
    .update(origin)
    .digest('hex')
    .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5');

export const isUuid = (text: string): boolean =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text);

/** Of a path. @throws {CoderError} 400 */
export const uuidIn = (text: string): string => {
  if (isUuid(text)) return text.toLowerCase();
  throw new CoderError(400, `Invalid UUID "${text.slice(0, 100)}".`);
};

/** Of a body, where the nil UUID and nothing are the same. */
export const presentUuid = (id: string | null | undefined): string | undefined =>
  !id || id === nil ? undefined : id.toLowerCase();
