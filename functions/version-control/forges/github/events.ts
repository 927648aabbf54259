import * as v from 'valibot';
import { commandOf } from '#version-control/commands.ts';
import { commitForm, type ForgeEvent, ignored, isZeros } from '../events.ts';
import { id, optionalWebUrl, repository, sender, senderOf, sha } from './schemas.ts';

/** Webhooks of GitHub and Gitea, whose payloads have the same form. */

const told = v.object({ repository, sender: v.nullish(sender) });
const push = v.object({
  ref: v.string(),
  before: v.nullish(v.string(), null),
  after: v.string(),
  created: v.optional(v.boolean(), false),
  deleted: v.optional(v.boolean(), false),
  forced: v.optional(v.boolean(), false),
  compare: optionalWebUrl,
  compare_url: optionalWebUrl,
  head_commit: v.nullish(v.object({ id: v.string() })),
});
const pullEvent = v.object({
  action: v.string(),
  number: v.number(),
  changes: v.nullish(v.looseObject({ base: v.optional(v.unknown()), ref: v.optional(v.unknown()) })),
});

const commentEvent = v.object({
  action: v.string(),
  issue: v.object({ number: v.number(), pull_request: v.nullish(v.unknown()) }),
  comment: v.object({ id, body: v.fallback(v.string(), '') }),
});

/** Ignores edited comments: the new text may not be the author's. */
const commentOf = (payload: unknown, about: ReturnType<typeof aboutOf>): ForgeEvent => {
  const { action, issue, comment: one } = v.parse(commentEvent, payload);
  if (action !== 'created') return ignored('comments that were edited or deleted');
  if (!issue.pull_request) return ignored('comments on issues');
  if (!commandOf(one.body)) return ignored('comments without a command');
  return { kind: 'comment', number: issue.number, commentId: one.id, ...about };
};

const mergeEvent = v.object({
  action: v.string(),
  merge_group: v.object({ base_ref: v.string(), base_sha: sha, head_sha: sha }),
});

/** A merge queue waits for statuses of its commit (GitHub webhooks: merge_group). */
const mergeOf = (payload: unknown, about: ReturnType<typeof aboutOf>): ForgeEvent => {
  const { action, merge_group: group } = v.parse(mergeEvent, payload);
  if (action !== 'checks_requested') return ignored(`merge groups that were ${action.slice(0, 50)}`);
  const branch = group.base_ref.replace(/^refs\/heads\//, '');
  return { kind: 'merge', branch, before: group.base_sha, sha: group.head_sha, ...about };
};

const pullActions = ['opened', 'reopened', 'synchronize', 'synchronized'];

const aboutOf = ({ repository: given, sender: by }: v.InferOutput<typeof told>) => ({
  repositoryId: given.id,
  defaultBranch: given.default_branch,
  sender: senderOf(by),
});

const pushOf = (payload: unknown, about: ReturnType<typeof aboutOf>): ForgeEvent => {
  const given = v.parse(push, payload);
  const [, kind, name = ''] = /^refs\/(heads|tags)\/(.+)$/.exec(given.ref) ?? [];
  const gone = given.deleted || isZeros(given.after);
  if (kind === 'heads' && gone) return { kind: 'gone', branch: name, ...about };
  if (kind === 'heads' && commitForm.test(given.after)) {
    const before = given.before && commitForm.test(given.before) && !isZeros(given.before) ? given.before : null;
    const compareUrl = given.compare ?? given.compare_url ?? null;
    return { kind: 'push', branch: name, before, after: given.after, forced: given.forced, compareUrl, ...about };
  }
  if (kind === 'tags' && gone) return ignored(`tag ${name} was deleted`);
  const withEtag = given.head_commit?.id ?? '';
  if (kind === 'tags' && commitForm.test(withEtag)) return { kind: 'tag', tag: name, sha: withEtag, ...about };
  return ignored('neither a branch nor a tag was pushed');
};

export const eventOf = (name: string | undefined, payload: unknown): ForgeEvent => {
  if (!['push', 'pull_request', 'issue_comment', 'merge_group'].includes(name ?? ''))
    return ignored(`events of kind ${(name ?? 'unknown').slice(0, 50)}`);
  const about = aboutOf(v.parse(told, payload));
  if (name === 'push') return pushOf(payload, about);
  if (name === 'issue_comment') return commentOf(payload, about);
  if (name === 'merge_group') return mergeOf(payload, about);
  const { action, number, changes } = v.parse(pullEvent, payload);
  if (action === 'closed') return { kind: 'pull', number, over: true, ...about };
  const retargeted = action === 'edited' && (changes?.base !== undefined || changes?.ref !== undefined);
  if (pullActions.includes(action) || retargeted) return { kind: 'pull', number, over: false, ...about };
  return ignored(`pull requests that were ${action.slice(0, 50)}`);
};
