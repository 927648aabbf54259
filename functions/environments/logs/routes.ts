import { maxResponseBytes, sizeInResponse } from '#api/response-size.ts';
import { environment } from '#platform/environment.ts';
import { ok, redirect } from '../host/answers.ts';
import { flagIn, numberIn } from '../host/body.ts';
import { invalidQuery } from '../host/errors.ts';
import type { Call } from '../host/route.ts';
import { type Entry, isSame, partOf, readEntries } from './entries.ts';
import type { ReadJobLog } from './job-log.ts';
import { issueTicket, type JobKind } from './tickets.ts';

/** The last entries of a log that fit into a response. */
export const fitting = (entries: Entry[]): Entry[] => {
  let bytes = 0;
  let first = entries.length;
  for (; first > 0; first--) {
    bytes += sizeInResponse(JSON.stringify(entries[first - 1])) + 1;
    // A list has one more bracket than it has commas.
    if (bytes >= maxResponseBytes) break;
  }
  return entries.slice(first);
};

const read = async (readLog: ReadJobLog, id: string, after: number, before: number): Promise<Entry[]> => {
  const log = await readLog(id);
  const all: Entry[] = [];
  for (let cursor = { part: partOf(after), offset: 0 }; log; ) {
    const next = await readEntries(log.parts, cursor);
    all.push(...next.entries);
    if (next.isOver || isSame(next.cursor, cursor)) break;
    cursor = next.cursor;
  }
  return fitting(all.filter((entry) => entry.id > after && entry.id < before));
};

export const logParameters = ['before', 'after', 'follow'] as const;

/**
 * A log as a list; for a client that follows it, the URL of the WebSocket API with a ticket for this log.
 * @param call request of a user with permission to read the log
 */
export const answerLog = async (call: Call, { kind, jobId }: { kind: JobKind; jobId: string }, readLog: ReadJobLog) => {
  const { request } = call;
  const after = numberIn(request, 'after') ?? -1;
  if (!flagIn(request, 'follow')) {
    return ok(await read(readLog, jobId, after, numberIn(request, 'before') ?? Number.POSITIVE_INFINITY));
  }
  if (request.query.has('before')) {
    throw invalidQuery({ field: 'before', detail: '"before" cannot be used with "follow"' });
  }
  const ticket = await issueTicket({ kind, jobId, after });
  return redirect(`${environment.environmentSocketUrl}?ticket=${ticket}`);
};
