import type { Edited, Editor } from '#platform/store/edits.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { batchGet } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import type { Answer } from './answer.ts';
import { type ApiError, deletedMeanwhile, outdated } from './errors.ts';
import type { ApiRequest } from './request.ts';
import type { Call } from './route.ts';

/**
 * Optimistic locking with ETag and If-Match (RFC 9110 §13.1.1, decisions/0018): responses carry the settings' version
 * as `ETag`, and a change with an outdated `If-Match` is rejected. Requests without it are accepted, because clients
 * of HCP Terraform do not send it.
 */

/** Records with versions have a new id after each change. */
type Guarded = Edited & { versionId?: string };

const tagOf = ({ edits = 0, versionId }: Guarded): string => `"${versionId ?? edits}"`;

/** Adds the ETag of the record that the response shows. */
export const withEtag = (answer: Answer, record: Guarded): Answer => ({
  ...answer,
  headers: { ...answer.headers, etag: tagOf(record) },
});

/** True also without If-Match. */
const matchesIfMatch = (request: ApiRequest, record: Guarded): boolean => {
  const header = request.header('if-match')?.trim() ?? '*';
  // Compressing proxies turn the ETag into a weak one.
  return header === '*' || header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === tagOf(record));
};

/**
 * @param noun for messages: `team`
 * @throws {ApiError} 412 when If-Match names another version
 */
export const checkIfMatch = async (request: ApiRequest, record: Guarded, noun: string): Promise<void> => {
  if (matchesIfMatch(request, record)) return;
  const { edited } = record;
  const [user] = edited ? await batchGet<Key & { username: string }>([keys.user(edited.by)]) : [];
  throw outdated(noun, edited && { by: user?.username ?? edited.by, at: edited.at });
};

/**
 * Why a conditional change was not written: the record is deleted, or `error` says it.
 * @param current the record as it is now
 * @throws {ApiError} 412 when it has changed, and If-Match names an earlier version
 */
export const refusedChange = async (
  request: ApiRequest,
  noun: string,
  current: Guarded | undefined,
  error?: ApiError,
): Promise<ApiError> => {
  if (current) await checkIfMatch(request, current, noun);
  return (current && error) ?? deletedMeanwhile(noun);
};

/**
 * A change of a record with version ids; the returned function runs again when the record changed meanwhile.
 * @throws {ApiError} 412 from the change, when If-Match names another version
 */
export const versionGuard = async <R extends Guarded, C extends object>(
  { request, principal }: Call,
  record: R,
  noun: string,
  change: (current: R) => C,
): Promise<(current: R) => C & Pick<Edited, 'edited'>> => {
  await checkIfMatch(request, record, noun);
  return (current) => {
    if (!matchesIfMatch(request, current)) throw outdated(noun);
    return { ...change(current), edited: { by: principal.userId, at: now() } };
  };
};

/** The editor of these settings, after checking If-Match. @throws {ApiError} 412 */
export const editorOf = async ({ request, principal }: Call, record: Edited, noun: string): Promise<Editor> => {
  await checkIfMatch(request, record, noun);
  const { userId } = principal;
  return request.header('if-match') === undefined ? { userId } : { userId, edits: record.edits ?? 0 };
};
