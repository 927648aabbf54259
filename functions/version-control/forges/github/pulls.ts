import * as v from 'valibot';
import type { Pull, PullForge } from '../forge.ts';
import { isApproved } from '../reviews.ts';
import { allPages, changed, found, missing, pageSize, pathsOf, repo } from './forge.ts';
import { id, sender, senderOf, sha, webUrl } from './schemas.ts';

/** Pull requests of GitHub and GitHub Enterprise Server. */

const pull = v.object({
  number: v.number(),
  state: v.string(),
  title: v.nullish(v.string(), ''),
  body: v.nullish(v.string(), null),
  html_url: webUrl,
  user: v.nullish(sender),
  mergeable: v.nullish(v.boolean(), null),
  head: v.object({ sha: sha, ref: v.string(), repo: v.nullish(v.object({ id })) }),
  base: v.object({ ref: v.string(), repo: v.nullish(v.object({ id })) }),
});

/**
 * Gitea and Forgejo let every reader of a repository push to `refs/for/<branch>` (AGit). The head of such a pull
 * request is in the repository itself, but is a ref instead of a branch.
 */
const isBranch = (ref: string): boolean => !ref.startsWith('refs/');

const pullOf = (given: v.InferOutput<typeof pull>): Pull => ({
  number: given.number,
  open: given.state === 'open',
  headSha: given.head.sha,
  headBranch: given.head.ref,
  base: given.base.ref,
  // Null for a deleted fork.
  fromFork: !given.head.repo || given.head.repo.id !== given.base.repo?.id || !isBranch(given.head.ref),
  title: (given.title ?? '').slice(0, 255),
  body: given.body?.slice(0, 2000) ?? null,
  url: given.html_url ?? '',
  sender: senderOf(given.user),
  mergeable: given.mergeable,
});

const comment = v.object({ id, body: v.fallback(v.string(), ''), user: v.nullish(v.object({ id })) });

const onPull = v.object({
  id,
  body: v.fallback(v.string(), ''),
  user: v.object({ id, login: v.string() }),
  created_at: v.string(),
  updated_at: v.string(),
  /** GitHub sends it for issues and pull requests; Gitea only for issues. */
  issue_url: v.fallback(v.string(), ''),
  pull_request_url: v.fallback(v.string(), ''),
});

export const githubPulls: PullForge = {
  pull: async (call, identifier, number) => {
    const path = `${repo(identifier)}/pulls/${number}`;
    const one = found(pull, await call({ method: 'GET', path, accept: missing }));
    return one && pullOf(one);
  },
  isApproved: (call, identifier, one) => isApproved(call, identifier, one, pageSize),
  pullFiles: async (call, identifier, number) => {
    const path = `${repo(identifier)}/pulls/${number}/files`;
    const files = await allPages(async (page) => {
      const { body } = await call({ method: 'GET', path, query: { per_page: pageSize, page } });
      return v.parse(changed, body);
    }, pageSize);
    return files && pathsOf(files);
  },
  comments: async (call, identifier, number) => {
    const path = `${repo(identifier)}/issues/${number}/comments`;
    const { body } = await call({ method: 'GET', path, query: { per_page: pageSize, limit: 50 } });
    return v.parse(v.array(comment), body).map((one) => ({ id: one.id, body: one.body, authorId: one.user?.id ?? '' }));
  },
  comment: async (call, identifier, { id: commentId }) => {
    const path = `${repo(identifier)}/issues/comments/${encodeURIComponent(commentId)}`;
    const one = found(onPull, await call({ method: 'GET', path, accept: missing }));
    return (
      one && {
        id: one.id,
        number: Number(/\/(\d+)$/.exec(one.pull_request_url || one.issue_url)?.[1]),
        body: one.body,
        authorId: one.user.id,
        author: one.user.login,
        edited: one.updated_at !== one.created_at,
        createdAt: one.created_at,
      }
    );
  },
  postComment: async (call, identifier, number, body) => {
    const path = `${repo(identifier)}/issues/${number}/comments`;
    return v.parse(v.object({ id }), (await call({ method: 'POST', path, body: { body } })).body).id;
  },
  editComment: async (call, identifier, at, body) => {
    const path = `${repo(identifier)}/issues/comments/${at.id}`;
    return (await call({ method: 'PATCH', path, body: { body }, accept: [404] })).status !== 404;
  },
};
