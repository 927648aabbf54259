import * as v from 'valibot';
import { type Answer, created, ok, type Resource } from '#api/answer.ts';
import { conflict, notFound } from '#api/errors.ts';
import { includable } from '#api/include.ts';
import type { OtherFields } from '#api/known-attributes.ts';
import { list, pageOf, wholeList } from '#api/pagination.ts';
import { type Context, type Route, route } from '#api/route.ts';
import { readData, text } from '#api/validation.ts';
import { userDocument } from '#resources/users/user-document.ts';
import { getUser } from '#resources/users/users.ts';
import type { Run } from '#run/run.ts';
import { commentDocument, runEventDocument } from './document.ts';
import {
  commentOn,
  getComment,
  getComments,
  getRunEvent,
  listComments,
  listRunEvents,
  maxCommentLength,
  maxComments,
  type RunEvent,
} from './events.ts';
import { run, runOfAComment, runOfAnEvent } from './finder.ts';

/** A run's timeline and its comments. */

const otherFields: OtherFields = { related: 'run-event' };

const present = <T>(item: T | undefined): item is T => item !== undefined;

const include = includable('actor', 'comment', 'comment.run_event');

const related = async ({ request }: Context<Run>, events: RunEvent[]): Promise<Resource[] | undefined> => {
  const includes = include.of(request);
  if (includes.size === 0) return undefined;
  const actors = includes.has('actor') ? [...new Set(events.map(({ actor }) => actor))].filter(present) : [];
  const withComments = includes.has('comment') || includes.has('comment.run_event');
  const [users, comments] = await Promise.all([
    Promise.all(actors.map(getUser)),
    withComments ? getComments(events.map(({ commentId }) => commentId).filter(present)) : [],
  ]);
  // The events of comments are already in `data`; repeating them in `included` would create a cycle.
  return [...users.filter(present).map(userDocument), ...comments.map(commentDocument)];
};

const listEvents = async (context: Context<Run>): Promise<Answer> => {
  const events = await listRunEvents(context.subject);
  return wholeList(context.request, events.map(runEventDocument), await related(context, events));
};

const readEvent = async (context: Context<Run>): Promise<Answer> => {
  const event = await getRunEvent(context.subject, context.request.params.event ?? '');
  if (!event) throw notFound("Run event not found, or you don't have access.");
  return ok(runEventDocument(event), await related(context, [event]));
};

const listOfRun = async ({ request, subject }: Context<Run>): Promise<Answer> => {
  const page = pageOf(request);
  const comments = await listComments(subject.id, page);
  return list(request, page, subject.commentCount ?? 0, comments.map(commentDocument));
};

const body = v.pipe(text(maxCommentLength), v.minLength(1, 'must not be empty'));

const create = async ({ request, subject, principal }: Context<Run>): Promise<Answer> => {
  const { attributes } = readData(request, { body }, {}, otherFields);
  const comment = await commentOn(subject, principal.userId, attributes.body);
  if (!comment) throw conflict(`Run ${subject.id} already has ${maxComments} comments, the maximum.`);
  return created(commentDocument(comment));
};

const read = async ({ request }: Context<Run>): Promise<Answer> => {
  const comment = await getComment(request.params.comment ?? '');
  if (!comment) throw notFound("Comment not found, or you don't have access.");
  return ok(commentDocument(comment));
};

export const runEventRoutes: Route[] = [
  route('GET', '/runs/{run}/run-events', 'run:read', run, listEvents, { include }),
  route('GET', '/run-events/{event}', 'run:read', runOfAnEvent, readEvent, { include }),
  route('GET', '/runs/{run}/comments', 'run:read', run, listOfRun),
  route('POST', '/runs/{run}/comments', 'run:comment', run, create),
  route('GET', '/comments/{comment}', 'run:read', runOfAComment, read),
];
