import * as v from 'valibot';
import { type Answer, ok } from '#api/answer.ts';
import { conflict, notFound } from '#api/errors.ts';
import { type Context, type Route, route } from '#api/route.ts';
import { readWhole, text } from '#api/validation.ts';
import { getUser } from '#resources/users/users.ts';
import { lockReason, workspaceDocument } from './document.ts';
import { workspace } from './finder.ts';
import type { WorkspaceLock } from './lock-record.ts';
import { getWorkspace, type Workspace } from './records.ts';

/** Effects of a lock on states and the queue. */
export interface Locking {
  /** Undefined when it is already locked. */
  lock(workspaceId: string, userId: string, reason: string): Promise<Workspace | undefined>;
  /** Unlocks by force without a user. Undefined when there is no such lock. */
  unlock(workspaceId: string, userId?: string): Promise<Workspace | undefined>;
  /** Called before the writer unlocks the workspace. @throws {ApiError} 422 while an announced state is pending */
  settleState(workspace: Workspace): Promise<void>;
}

const lockBody = v.object({
  reason: v.nullish(text(1000)),
  data: v.optional(v.object({ attributes: v.optional(v.object({ reason: v.nullish(text(1000)) })) })),
});

/** Clients send the reason in a JSON:API document with an empty type; the documentation has a plain `{reason}`. */
const lock = async (
  { request, subject, granted, principal }: Context<Workspace>,
  locking: Locking,
): Promise<Answer> => {
  const body = readWhole(request, lockBody);
  const reason = body.reason ?? body.data?.attributes?.reason ?? '';
  const locked = await locking.lock(subject.id, principal.userId, reason);
  if (!locked) throw await alreadyLocked(subject.id, subject.name);
  return ok(workspaceDocument(locked, granted));
};

const holderOf = async (held: WorkspaceLock): Promise<string> => {
  if (held.kind === 'run') return `Run ${held.runId}`;
  const holder = await getUser(held.userId);
  return `${holder?.service?.teamId ? 'Team' : 'User'} ${holder?.username ?? held.userId}`;
};

const alreadyLocked = async (workspaceId: string, name: string): Promise<Error> => {
  const held = (await getWorkspace(workspaceId))?.lock;
  const reason = held?.kind === 'user' && held.reason ? ` (${held.reason})` : '';
  const who = held ? ` by ${await holderOf(held)} since ${held.at}${reason}` : '';
  return conflict(`Workspace ${name} is already locked${who}. Wait until it is unlocked.`, 'conflict');
};

/** Reason why the workspace was not unlocked, in words that clients match. */
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
  return conflict(
    `Workspace ${name} is locked by ${await holderOf(held)}. Only they, or an admin by force, can unlock it.`,
  );
};

const unlock = async ({ subject, granted, principal }: Context<Workspace>, locking: Locking): Promise<Answer> => {
  if (subject.lock?.kind === 'user' && subject.lock.userId === principal.userId) await locking.settleState(subject);
  const unlocked = await locking.unlock(subject.id, principal.userId);
  if (!unlocked) throw await refusal(subject.id);
  return ok(workspaceDocument(unlocked, granted));
};

const forceUnlock = async ({ subject, granted }: Context<Workspace>, locking: Locking): Promise<Answer> => {
  const unlocked = await locking.unlock(subject.id);
  if (!unlocked) throw await refusal(subject.id);
  return ok(workspaceDocument(unlocked, granted));
};

const at = '/workspaces/{workspace}/actions';

export const workspaceLockRoutes = (locking: Locking): Route[] => [
  route('POST', `${at}/lock`, 'workspace:lock', workspace, (context) => lock(context, locking)),
  route('POST', `${at}/unlock`, 'workspace:lock', workspace, (context) => unlock(context, locking)),
  route('POST', `${at}/force-unlock`, 'workspace:force-unlock', workspace, (context) => forceUnlock(context, locking)),
];
