import * as v from 'valibot';
import { commandOf } from '#version-control/commands.ts';
import { commitForm, type ForgeEvent, ignored, isZeros } from '../events.ts';
import type { Header } from '../forge.ts';
import { id } from '../github/schemas.ts';
import { senderOf, user } from './schemas.ts';

/** Webhooks of Bitbucket Data Center. One push has a change for each of its branches and tags. */

const by = v.object({ actor: v.fallback(v.nullish(user), null) });

const change = v.object({
  ref: v.object({ displayId: v.string(), type: v.string() }),
  fromHash: v.string(),
  toHash: v.string(),
  type: v.string(),
});
type Change = v.InferOutput<typeof change>;
const push = v.object({ repository: v.object({ id }), changes: v.array(change) });

interface About {
  repositoryId: string;
  defaultBranch: null;
  sender: ReturnType<typeof senderOf>;
}

const changeOf = ({ ref, fromHash, toHash, type }: Change, about: About): ForgeEvent => {
  const gone = type === 'DELETE' || isZeros(toHash);
  if (ref.type === 'TAG' && gone) return ignored(`tag ${ref.displayId} was deleted`);
  if (ref.type === 'BRANCH' && gone) return { kind: 'gone', branch: ref.displayId, ...about };
  if (!commitForm.test(toHash)) return ignored('neither a branch nor a tag was pushed');
  if (ref.type === 'TAG') return { kind: 'tag', tag: ref.displayId, sha: null, ...about };
  if (ref.type !== 'BRANCH') return ignored(`changes of kind ${ref.type.slice(0, 50)}`);
  const before = commitForm.test(fromHash) && !isZeros(fromHash) ? fromHash : null;
  // The webhook does not tell whether the push was forced; changed files are compared without a common ancestor.
  return { kind: 'push', branch: ref.displayId, before, after: toHash, forced: false, compareUrl: null, ...about };
};

const pull = v.object({
  pullRequest: v.object({ id: v.number(), toRef: v.object({ repository: v.object({ id }) }) }),
  /** Present if the target branch was changed. */
  previousTarget: v.nullish(v.unknown()),
});
const comment = v.object({ comment: v.object({ id, text: v.fallback(v.string(), '') }) });

/** Events of pull requests, and whether it is over. */
const pullEvents: Record<string, boolean> = {
  'pr:opened': false,
  'pr:reopened': false,
  'pr:from_ref_updated': false,
  'pr:to_ref_updated': false,
  'pr:modified': false,
  'pr:merged': true,
  'pr:declined': true,
  'pr:deleted': true,
};

export const eventsOf = (header: Header, payload: unknown): ForgeEvent[] => {
  const name = header('x-event-key') ?? 'unknown';
  const over = pullEvents[name];
  if (name !== 'repo:refs_changed' && name !== 'pr:comment:added' && over === undefined)
    return [ignored(`events of kind ${name.slice(0, 50)}`)];
  const about = { defaultBranch: null, sender: senderOf(v.parse(by, payload).actor) };
  if (name === 'repo:refs_changed') {
    const { repository, changes } = v.parse(push, payload);
    return changes.map((one) => changeOf(one, { ...about, repositoryId: repository.id }));
  }
  const { pullRequest, previousTarget } = v.parse(pull, payload);
  const told = { ...about, repositoryId: pullRequest.toRef.repository.id, number: pullRequest.id };
  if (name === 'pr:modified' && previousTarget == null)
    return [ignored('pull requests with a new title or description')];
  if (over !== undefined) return [{ kind: 'pull', over, ...told }];
  const { id: commentId, text } = v.parse(comment, payload).comment;
  return commandOf(text) ? [{ kind: 'comment', commentId, ...told }] : [ignored('comments without a command')];
};
