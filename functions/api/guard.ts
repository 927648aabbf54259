import { getUsers } from '../store/access/users.ts';
import type { Edited, Editor } from '../store/edits.ts';
import type { Answer } from './answer.ts';
import { outdated } from './errors.ts';
import type { ApiRequest } from './request.ts';
import type { Call } from './route.ts';

/**
 * Against lost updates (RFC 9110 §13.1.1): an answer says with `ETag` which settings it shows, and a change that sends it
 * back with `If-Match` is refused when somebody else was faster. Who does not send it is not held up: clients of HCP
 * Terraform know of none of this.
 */

const tagOf = ({ edits = 0 }: Edited): string => `"${edits}"`;

/** The answer that shows these settings. */
export const tagged = (answer: Answer, record: Edited): Answer => ({
  ...answer,
  headers: { ...answer.headers, etag: tagOf(record) },
});

const isSeen = (given: string, record: Edited): boolean =>
  // Whoever compresses on the way makes it a weak one.
  given.trim() === '*' || given.split(',').some((tag) => tag.trim().replace(/^W\//, '') === tagOf(record));

/**
 * @param what `team`
 * @throws {ApiError} 412 when the caller has seen other settings than these
 */
export const checkSeen = async (request: ApiRequest, record: Edited, what: string): Promise<void> => {
  const given = request.header('if-match');
  if (given === undefined || isSeen(given, record)) return;
  const { edited } = record;
  const [user] = edited ? await getUsers([edited.by]) : [];
  throw outdated(what, edited && { by: user?.username ?? edited.by, at: edited.at });
};

/** Who changes these settings, having seen them or not. @throws {ApiError} 412 */
export const editorOf = async ({ request, principal }: Call, record: Edited, what: string): Promise<Editor> => {
  await checkSeen(request, record, what);
  const { userId } = principal;
  return request.header('if-match') === undefined ? { userId } : { userId, seen: record.edits ?? 0 };
};
