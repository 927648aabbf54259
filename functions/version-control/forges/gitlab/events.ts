import * as v from 'valibot';
import { commandOf } from '#version-control/commands.ts';
import { commitForm, type ForgeEvent, ignored, isZeros } from '../events.ts';
import type { Header } from '../forge.ts';
import { id, optionalWebUrl, webUrl } from '../github/schemas.ts';

/** Webhooks of GitLab. */

const told = v.object({
  project: v.object({
    id,
    default_branch: v.nullish(v.string(), null),
    web_url: webUrl,
  }),
  user_username: v.nullish(v.string()),
  user_avatar: v.nullish(v.string(), null),
  user: v.nullish(v.object({ username: v.string(), avatar_url: optionalWebUrl })),
});
const push = v.object({
  ref: v.string(),
  before: v.nullish(v.string(), null),
  after: v.string(),
  checkout_sha: v.nullish(v.string(), null),
});
const mergeEvent = v.object({
  object_attributes: v.object({
    iid: v.number(),
    action: v.nullish(v.string(), ''),
    oldrev: v.nullish(v.string()),
  }),
  changes: v.nullish(v.looseObject({ target_branch: v.optional(v.unknown()) })),
});

const aboutOf = (payload: unknown) => {
  const given = v.parse(told, payload);
  const username = given.user_username ?? given.user?.username;
  const origin = URL.parse(given.project.web_url ?? '')?.origin;
  return {
    repositoryId: given.project.id,
    defaultBranch: given.project.default_branch,
    sender: username
      ? {
          username,
          avatarUrl: given.user_avatar ?? given.user?.avatar_url ?? null,
          htmlUrl: origin ? `${origin}/${encodeURIComponent(username)}` : null,
        }
      : null,
  };
};

const pushOf = (payload: unknown): ForgeEvent => {
  const about = aboutOf(payload);
  const { ref, before, after, checkout_sha: checkout } = v.parse(push, payload);
  const [, kind, name = ''] = /^refs\/(heads|tags)\/(.+)$/.exec(ref) ?? [];
  if (kind === 'heads' && isZeros(after)) return { kind: 'gone', branch: name, ...about };
  if (kind === 'heads' && commitForm.test(after)) {
    const known = before && commitForm.test(before) && !isZeros(before) ? before : null;
    return { kind: 'push', branch: name, before: known, after, forced: false, compareUrl: null, ...about };
  }
  if (kind === 'tags' && isZeros(after)) return ignored(`tag ${name} was deleted`);
  if (kind === 'tags' && checkout && commitForm.test(checkout))
    return { kind: 'tag', tag: name, sha: checkout, ...about };
  return ignored('neither a branch nor a tag was pushed');
};

const mergeOf = (payload: unknown): ForgeEvent => {
  const about = aboutOf(payload);
  const { object_attributes: attributes, changes } = v.parse(mergeEvent, payload);
  const { iid: number, action, oldrev } = attributes;
  if (action === 'close' || action === 'merge') return { kind: 'pull', number, over: true, ...about };
  // Only an update that changed the commits or the target branch: a changed label is also an update.
  const moved = action === 'update' && (oldrev || changes?.target_branch !== undefined);
  if (action === 'open' || action === 'reopen' || moved) return { kind: 'pull', number, over: false, ...about };
  return ignored(`merge requests with action ${(action || 'unknown').slice(0, 50)}`);
};

const noteEvent = v.object({
  object_attributes: v.object({
    id,
    note: v.fallback(v.string(), ''),
    noteable_type: v.nullish(v.string(), ''),
    action: v.nullish(v.string(), 'create'),
  }),
  merge_request: v.nullish(v.object({ iid: v.number() })),
});

const noteOf = (payload: unknown): ForgeEvent => {
  const { object_attributes: note, merge_request: merge } = v.parse(noteEvent, payload);
  if (note.noteable_type !== 'MergeRequest' || !merge) return ignored('comments outside merge requests');
  if (note.action !== 'create') return ignored('comments that were edited');
  if (!commandOf(note.note)) return ignored('comments without a command');
  return { kind: 'comment', number: merge.iid, commentId: note.id, ...aboutOf(payload) };
};

export const eventOf = (header: Header, payload: unknown): ForgeEvent => {
  const name = header('x-gitlab-event');
  if (name === 'Push Hook' || name === 'Tag Push Hook') return pushOf(payload);
  if (name === 'Merge Request Hook') return mergeOf(payload);
  if (name === 'Note Hook') return noteOf(payload);
  return ignored(`events of kind ${(name ?? 'unknown').slice(0, 50)}`);
};
