import * as v from 'valibot';
import type { PullForge } from '../forge.ts';
import { found, missing } from '../github/forge.ts';
import { id, sha } from '../github/schemas.ts';
import { changed, listed, pathsOf, repo } from './forge.ts';
import { addressIn, self, senderOf, user } from './schemas.ts';

/** Pull requests of Bitbucket Data Center. */

const end = v.object({
  /** `refs/heads/…` */
  id: v.string(),
  displayId: v.string(),
  latestCommit: sha,
  repository: v.object({ id, public: v.nullish(v.boolean(), false) }),
});
const pullRequest = v.object({
  id: v.number(),
  state: v.string(),
  title: v.nullish(v.string(), ''),
  description: v.nullish(v.string()),
  fromRef: end,
  toRef: end,
  author: v.object({ user }),
  reviewers: v.nullish(
    v.array(
      v.object({
        user: v.object({ id }),
        status: v.string(),
        lastReviewedCommit: v.nullish(v.string()),
      }),
    ),
    [],
  ),
  links: self,
});

const pathOf = (identifier: string, number: number): string => `${repo(identifier)}/pull-requests/${number}`;

/** `version`: of the text; the next edit names it. Dates are milliseconds since 1970. */
const comment = v.object({
  id,
  version: v.number(),
  text: v.string(),
  author: user,
  createdDate: v.number(),
  updatedDate: v.nullish(v.number()),
});
/** Other activities have no comment. */
const activity = v.object({ action: v.string(), comment: v.nullish(v.object({ id, text: v.string(), author: user })) });

export const bitbucketServerPulls: PullForge = {
  pull: async (call, identifier, number) => {
    const path = pathOf(identifier, number);
    const one = found(pullRequest, await call({ method: 'GET', path, accept: missing }));
    if (!one) return undefined;
    const open = one.state === 'OPEN';
    const merge = v.object({ canMerge: v.boolean(), conflicted: v.boolean() });
    const state = open
      ? found(merge, await call({ method: 'GET', path: `${path}/merge`, accept: missing }))
      : undefined;
    return {
      number: one.id,
      open,
      headSha: one.fromRef.latestCommit,
      headBranch: one.fromRef.displayId,
      base: one.toRef.displayId,
      fromFork: one.fromRef.repository.id !== one.toRef.repository.id || !one.fromRef.id.startsWith('refs/heads/'),
      title: (one.title ?? '').slice(0, 255),
      body: one.description?.slice(0, 2000) ?? null,
      url: addressIn(one.links),
      sender: senderOf(one.author.user),
      mergeable: state ? state.canMerge && !state.conflicted : null,
    };
  },
  /** In a public repository every account can approve, so approvals do not count there. */
  isApproved: async (call, identifier, { number, headSha }) => {
    const one = v.parse(pullRequest, (await call({ method: 'GET', path: pathOf(identifier, number) })).body);
    if (one.toRef.repository.public) return false;
    const others = (one.reviewers ?? []).filter((reviewer) => reviewer.user.id !== one.author.user.id);
    return (
      others.some(({ status, lastReviewedCommit: seen }) => status === 'APPROVED' && (!seen || seen === headSha)) &&
      !others.some(({ status }) => status === 'NEEDS_WORK')
    );
  },
  pullFiles: async (call, identifier, number) => {
    const files = await listed(call, `${pathOf(identifier, number)}/changes`, changed);
    return files && pathsOf(files);
  },
  comments: async (call, identifier, number) => {
    const all = await listed(call, `${pathOf(identifier, number)}/activities`, activity);
    return (all ?? []).flatMap(({ action, comment: one }) =>
      action === 'COMMENTED' && one ? [{ id: one.id, body: one.text, authorId: one.author.id }] : [],
    );
  },
  comment: async (call, identifier, { number, id: commentId }) => {
    const path = `${pathOf(identifier, number)}/comments/${encodeURIComponent(commentId)}`;
    const one = found(comment, await call({ method: 'GET', path, accept: missing }));
    return (
      one && {
        id: one.id,
        number,
        body: one.text,
        authorId: one.author.id,
        author: one.author.name,
        edited: one.version > 0,
        createdAt: new Date(one.createdDate).toISOString(),
      }
    );
  },
  postComment: async (call, identifier, number, body) => {
    const path = `${pathOf(identifier, number)}/comments`;
    return v.parse(v.object({ id }), (await call({ method: 'POST', path, body: { text: body } })).body).id;
  },
  /** A conflict: another call has edited it since it was read, and the next edit has the newer text. */
  editComment: async (call, identifier, at, body) => {
    const path = `${pathOf(identifier, at.number)}/comments/${encodeURIComponent(at.id)}`;
    const one = found(comment, await call({ method: 'GET', path, accept: missing }));
    if (!one) return false;
    await call({ method: 'PUT', path, body: { text: body, version: one.version }, accept: [409] });
    return true;
  },
};
