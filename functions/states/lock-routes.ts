import * as v from 'valibot';
import { type Answer, ok } from '../api/answer.ts';
import { ApiError, conflict, notFound } from '../api/errors.ts';
import { type Context, type Route, route } from '../api/route.ts';
import { check, text } from '../api/validation.ts';
import { lockWorkspace, unlockWorkspace } from '../orchestration/locks.ts';
import { getUser } from '../people/accounts/users.ts';
import { lockReason, workspaceDocument } from '../workspaces/document.ts';
import { workspace } from '../workspaces/finder.ts';
import { getWorkspace, type Workspace } from '../workspaces/records.ts';
import { finalizeStateVersion } from './finalize.ts';
import { isAwaited, latestPending } from './history.ts';

const lockBody = v.object({
  reason: v.nullish(text(1000)),
  data: v.optional(v.object({ attributes: v.optional(v.object({ reason: v.nullish(text(1000)) })) })),
});

/** Clients send the reason in a JSON:API document with an empty type; the documentation says plain `{reason}`. */
const lock = async ({ request, subject, granted, principal }: Context<Workspace>): Promise<Answer> => {
  const body = check(lockBody, request.json() ?? {});
  const reason = body.reason ?? body.data?.attributes?.reason ?? '';
  const locked = await lockWorkspace(subject.id, principal.userId, reason);
  if (!locked) throw conflict(`Workspace ${subject.name} is already locked. Wait until it is unlocked.`, 'conflict');
  return ok(workspaceDocument(locked, granted));
};

/** Why the workspace was not unlocked, in the words that clients look for. */
const refusal = async (workspaceId: string): Promise<Error> => {
  const current = await getWorkspace(workspaceId);
  if (!current) return notFound();
  const { name, lock: held } = current;
  if (!held) return conflict(`Workspace ${name} is already unlocked.`);
  if (held.kind === 'run' && held.unsaved) {
    return conflict(`Workspace ${name} is locked by Run ${held.runId}. ${lockReason(held)}`);
  }
  if (held.kind === 'run') {
    return conflict(`Workspace ${name} is locked by Run ${held.runId}. Cancel or discard the run to unlock it.`);
  }
  const holder = await getUser(held.userId);
  const kind = holder?.service?.teamId ? 'Team' : 'User';
  return conflict(
    `Workspace ${name} is locked by ${kind} ${holder?.username ?? held.userId}. Only they, or an admin by force, can unlock it.`,
  );
};

/** An uploaded state becomes current before its writer lets go of the workspace; after that it never could. */
const settleState = async (subject: Workspace): Promise<void> => {
  const pending = await latestPending(subject.id);
  if (!pending) return;
  const version = await finalizeStateVersion(pending);
  // One that was announced under an earlier lock was given up with that.
  const isOfThisLock = !subject.lock || version.createdAt >= subject.lock.at;
  if (isOfThisLock && isAwaited(version)) {
    // Clients look for these words and try again.
    throw new ApiError(422, [
      { title: 'latest state version is still pending', detail: 'Its content has not been uploaded yet.' },
    ]);
  }
};

const unlock = async ({ subject, granted, principal }: Context<Workspace>): Promise<Answer> => {
  if (subject.lock?.kind === 'user' && subject.lock.userId === principal.userId) await settleState(subject);
  const unlocked = await unlockWorkspace(subject.id, principal.userId);
  if (!unlocked) throw await refusal(subject.id);
  return ok(workspaceDocument(unlocked, granted));
};

const forceUnlock = async ({ subject, granted }: Context<Workspace>): Promise<Answer> => {
  const unlocked = await unlockWorkspace(subject.id);
  if (!unlocked) throw await refusal(subject.id);
  return ok(workspaceDocument(unlocked, granted));
};

export const workspaceLockRoutes: Route[] = [
  route('POST', '/workspaces/{workspace}/actions/lock', 'workspace:lock', workspace, lock),
  route('POST', '/workspaces/{workspace}/actions/unlock', 'workspace:lock', workspace, unlock),
  route('POST', '/workspaces/{workspace}/actions/force-unlock', 'workspace:force-unlock', workspace, forceUnlock),
];
