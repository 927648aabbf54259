import { createHash } from 'node:crypto';
import { type Key, keys } from '#platform/store/keys.ts';
import { batchGet, get, put, query, queryAll, updateExisting } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import type { Run } from '#run/run.ts';
import { isFinal, timestampKey } from '#run/status.ts';
import { runOf } from './records.ts';

/**
 * Timeline and comments of a run. Their ids start with their run's characters, so that finding the run takes no read.
 */

export interface RunEvent {
  id: string;
  runId: string;
  action: string;
  /** User id; absent for actions of the platform. */
  actor?: string;
  commentId?: string;
  description?: string;
  createdAt: string;
}

export interface RunComment {
  id: string;
  runId: string;
  body: string;
  createdBy: string;
  createdAt: string;
  /** The timeline event recorded with it. */
  eventId: string;
}

/** The run's item counts its comments, so that only the requested page is read. */
export const maxComments = 1000;
export const maxCommentLength = 10_000;

const charactersOf = (runId: string): string => runId.replace(/^run-/, '');

/** Ids sort by time; the same event gets the same id each time it is recorded. */
const eventIdOf = (runId: string, action: string, createdAt: string, about = ''): string => {
  const time = Date.parse(createdAt).toString(36).padStart(9, '0');
  const digest = createHash('sha256').update(`${action} ${about}`).digest('hex').slice(0, 6);
  return `re-${charactersOf(runId)}${time}${digest}`;
};

const eventForm = /^re-([A-Za-z0-9]{16})([0-9a-z]{9}[0-9a-f]{6})$/;
const commentForm = /^wsc-([A-Za-z0-9]{16})([0-9a-z]{1,5})$/;

const commentId = (runId: string, number: number): string => `wsc-${charactersOf(runId)}${number.toString(36)}`;

/** The run of an event or comment id. */
export const runOfEvent = (id: string): string | undefined => runIn(eventForm.exec(id));
export const runOfComment = (id: string): string | undefined => runIn(commentForm.exec(id));
const runIn = (match: RegExpExecArray | null): string | undefined => match?.[1] && `run-${match[1]}`;

/** Ids of all comments, oldest first. No read: the run's item counts them. */
export const commentIdsOf = ({ id, commentCount = 0 }: Pick<Run, 'id' | 'commentCount'>): string[] =>
  Array.from({ length: commentCount }, (_, i) => commentId(id, i + 1));

/** The first event, which is the only one of a newly created run. */
export const createdEventId = ({ id, createdAt }: Pick<Run, 'id' | 'createdAt'>): string =>
  eventIdOf(id, 'created', createdAt);

const eventKey = (id: string): Key => {
  const [, run = '', rest = ''] = eventForm.exec(id) ?? [];
  return keys.runEvent(`run-${run}`, rest);
};

const commentKey = (id: string): Key => {
  const [, run = '', number = ''] = commentForm.exec(id) ?? [];
  return keys.runComment(`run-${run}`, Number.parseInt(number, 36));
};

/** Numbers and stores a comment; undefined when the run has reached the limit. 2 writes. */
const addComment = async (
  runId: string,
  { action, createdAt, createdBy, body }: Pick<RunComment, 'createdAt' | 'createdBy' | 'body'> & { action: string },
): Promise<RunComment | undefined> => {
  const counted = await updateExisting<Pick<Run, 'commentCount'>>(keys.run(runId), {
    add: { commentCount: 1 },
    condition: 'attribute_not_exists(commentCount) OR commentCount < :max',
    values: { ':max': maxComments },
  });
  if (!counted?.commentCount) return undefined;
  const id = commentId(runId, counted.commentCount);
  const comment = { id, runId, body, createdBy, createdAt, eventId: eventIdOf(runId, action, createdAt, id) };
  await put({ ...commentKey(id), ...comment });
  return comment;
};

/**
 * Adds an event to the run's timeline, with its comment. 1 write, 3 with a comment.
 * @param about distinguishes events of the same kind and time
 */
export const recordRunEvent = async (
  run: Pick<Run, 'id'>,
  action: string,
  actor?: string,
  comment?: string,
  createdAt = now(),
  description?: string,
  about?: string,
): Promise<void> => {
  const newComment = comment && actor ? { action, createdAt, createdBy: actor, body: comment } : undefined;
  const storedComment = newComment && (await addComment(run.id, newComment));
  const id = storedComment?.eventId ?? eventIdOf(run.id, action, createdAt, about);
  const event: RunEvent = { id, runId: run.id, action, actor, commentId: storedComment?.id, description, createdAt };
  await put({ ...eventKey(id), ...event });
};

/** Undefined when the run has reached the limit. */
export const commentOn = async (run: Run, createdBy: string, body: string): Promise<RunComment | undefined> => {
  const createdAt = now();
  const action = 'commented';
  const comment = await addComment(run.id, { action, createdAt, createdBy, body });
  if (!comment) return undefined;
  const { id: commentId, eventId: id } = comment;
  const event: RunEvent = { id, runId: run.id, action, actor: createdBy, commentId, createdAt };
  await put({ ...eventKey(id), ...event });
  return comment;
};

/** Creation and end, which follow from the run's item and so are not stored. */
const impliedEvents = (run: Run): RunEvent[] => {
  const { id: runId, createdAt, createdBy, status, statusTimestamps } = run;
  const endedAt = isFinal(status) ? statusTimestamps[timestampKey(status)] : undefined;
  return [
    { id: createdEventId(run), runId, action: 'created', actor: createdBy, createdAt },
    ...(endedAt ? [{ id: eventIdOf(runId, status, endedAt), runId, action: status, createdAt: endedAt }] : []),
  ];
};

/** Adds them to the stored events, in the order of time, which is the order of ids. */
const withImplied = (run: Run, stored: RunEvent[]): RunEvent[] => {
  const byId = new Map([...impliedEvents(run), ...stored].map((event) => [event.id, event]));
  return [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
};

/** Ordered by time; limited by the possible events of a run and by {@link maxComments}. */
export const listRunEvents = async (run: Run): Promise<RunEvent[]> =>
  withImplied(run, await queryAll<RunEvent>({ pk: keys.run(run.id).pk, prefix: 'EVENT#' }));

export type RunWithEvents = Run & { eventIds: string[] };

/**
 * A run and the ids of its events, oldest first. One query: under the run's key, the events precede the run's item,
 * with only two small policy results in between.
 */
export const getRunWithEvents = async (id: string): Promise<RunWithEvents | undefined> => {
  const { pk, sk } = keys.run(id);
  const items = await queryAll<Key>({ pk, from: 'EVENT#', to: sk });
  const run = items.find((item) => item.sk === sk) as (Run & Key) | undefined;
  const stored = items.filter((item) => item.sk.startsWith('EVENT#')) as unknown as RunEvent[];
  return run && { ...runOf(run), eventIds: withImplied(run, stored).map((event) => event.id) };
};

export const getRunEvent = async (run: Run, id: string): Promise<RunEvent | undefined> =>
  impliedEvents(run).find((event) => event.id === id) ?? (runOfEvent(id) ? get<RunEvent>(eventKey(id)) : undefined);

/** Oldest first. */
export const listComments = (runId: string, { page, size }: { page: number; size: number }): Promise<RunComment[]> =>
  query<RunComment>({
    pk: keys.run(runId).pk,
    from: keys.runComment(runId, (page - 1) * size + 1).sk,
    to: keys.runComment(runId, page * size).sk,
  });

export const getComment = (id: string): Promise<RunComment | undefined> =>
  runOfComment(id) ? get<RunComment>(commentKey(id)) : Promise.resolve(undefined);

/** Ordered by id; missing comments are left out. */
export const getComments = (ids: string[]): Promise<RunComment[]> => batchGet<RunComment & Key>(ids.map(commentKey));
