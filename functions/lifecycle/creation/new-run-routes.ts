import { type Answer, created } from '#api/answer.ts';
import { forbidden } from '#api/errors.ts';
import { checkRepeat, hashOfRequest, idempotencyKeyOf } from '#api/idempotency-key.ts';
import type { ApiRequest } from '#api/request.ts';
import { type Context, type Finder, type Route, route } from '#api/route.ts';
import { requiredIn } from '#api/validation.ts';
import { noteId } from '#platform/store/change-record.ts';
import { derivedId } from '#platform/store/id.ts';
import { runWithEventsDocument } from '#resources/runs/document.ts';
import { createdEventId } from '#resources/runs/events.ts';
import { getRunEventually } from '#resources/runs/records.ts';
import { positionsOf } from '#resources/workspaces/queue-entries.ts';
import { getWorkspace, type Workspace } from '#resources/workspaces/records.ts';
import type { Run } from '#run/run.ts';
import { createFrom, queueRun, type RunRequest, repeated } from './create-run.ts';
import { readNewRun } from './new-run-input.ts';

/** A repeated request has the same run id, which is derived from caller, workspace and key. */
const keyedBy = (request: ApiRequest, userId: string, workspaceId: string) => {
  const key = idempotencyKeyOf(request);
  if (key === undefined) return {};
  // The audit trail records it as the created resource.
  const id = noteId(derivedId('run', `${userId} ${workspaceId} ${key}`));
  return { id, requestHash: hashOfRequest(request) };
};

const create = async (context: Context<Workspace>): Promise<Answer> => {
  const { request, subject, granted, principal } = context;
  const { userId } = principal;
  const keyed = keyedBy(request, userId, subject.id);
  // An eventually consistent read, for half the price: if it is too early, the creation finds the run.
  const earlier = keyed.id ? await getRunEventually(keyed.id) : undefined;
  const run = (earlier && (await repeated(earlier.id))) ?? (await createNew(context, keyed));
  // Another request with this key may have created it just now.
  if (keyed.id) checkRepeat(run, keyed.requestHash);
  // Nothing is ahead of a run in a free workspace: no read.
  const positions = await positionsOf(subject.lock ? [run] : []);
  return created(runWithEventsDocument(run, [createdEventId(run)], { granted, positions, userId }));
};

const createNew = async (
  { request, subject, granted, principal }: Context<Workspace>,
  keyed: Pick<RunRequest, 'id' | 'requestHash'>,
): Promise<Run> => {
  const { userId } = principal;
  const { id, ...requested } = await readNewRun(request, subject);
  if (requested.isDestroy && !requested.planOnly && !requested.version.speculative && !granted.has('run:apply')) {
    throw forbidden(
      'is-destroy: queueing a destroy run needs the permission run:apply; with plan-only, run:plan is enough.',
    );
  }
  // Only the uploader of a configuration may create the run that it was uploaded for.
  const own = requested.version.createdBy === userId ? { id } : {};
  const wanted = { ...requested, workspace: subject, createdBy: userId, granted };
  return keyed.id ? createFrom({ ...wanted, ...keyed }) : queueRun({ ...wanted, ...own });
};

/** The workspace of a new run, named in the body. */
const workspaceOfNewRun: Finder<Workspace> = {
  what: 'workspace',
  find: async (request) => getWorkspace(requiredIn(request, 'workspace', 'workspaces')),
  visibleWith: 'workspace:read',
  takesIdempotencyKey: true,
  scope: (workspace) => ({ organization: workspace.organization, workspace }),
};

export const newRunRoutes: Route[] = [route('POST', '/runs', 'run:plan', workspaceOfNewRun, create)];
