import * as v from 'valibot';
import type { PullForge } from '../forge.ts';
import { found, missing } from '../github/forge.ts';
import { sha, webUrl } from '../github/schemas.ts';
import { ask, listOf, repo, withoutSlash } from './forge.ts';
import { branchOf, nameOf, person, senderOf } from './schemas.ts';

/** Pull requests of Azure DevOps. A comment's id is its thread's and its own: `12/1`. */

const pullRequest = v.object({
  pullRequestId: v.number(),
  status: v.string(),
  title: v.nullish(v.string(), ''),
  description: v.nullish(v.string()),
  createdBy: person,
  sourceRefName: v.string(),
  targetRefName: v.string(),
  lastMergeSourceCommit: v.nullish(v.object({ commitId: sha })),
  mergeStatus: v.nullish(v.string(), 'notSet'),
  forkSource: v.nullish(v.unknown()),
  repository: v.object({
    webUrl,
    project: v.nullish(v.object({ visibility: v.nullish(v.string()) })),
  }),
  reviewers: v.nullish(
    v.array(v.object({ id: v.string(), vote: v.number(), isContainer: v.nullish(v.boolean(), false) })),
    [],
  ),
});

const pathOf = (identifier: string, number: number): string => `${repo(identifier)}/pullRequests/${number}`;

/** Statuses of a merge that Azure DevOps is still computing. */
const unsettled = ['notSet', 'queued'];

const comment = v.object({
  id: v.number(),
  content: v.nullish(v.string(), ''),
  author: person,
  publishedDate: v.string(),
  lastContentUpdatedDate: v.nullish(v.string()),
  isDeleted: v.nullish(v.boolean(), false),
});
/** Threads about votes and pushes have comments of kind `system`. */
const thread = v.object({ id: v.number(), comments: v.nullish(v.array(comment), []) });

const commentPath = (identifier: string, number: number, id: string): string => {
  const [threadId = '', commentId = ''] = id.split('/').map(encodeURIComponent);
  return `${pathOf(identifier, number)}/threads/${threadId}/comments/${commentId}`;
};

const maxFiles = 2000;

export const azureDevopsPulls: PullForge = {
  pull: async (call, identifier, number) => {
    const answer = await ask(call, { method: 'GET', path: pathOf(identifier, number), accept: missing });
    const one = found(pullRequest, answer);
    return (
      one && {
        number: one.pullRequestId,
        open: one.status === 'active' && one.lastMergeSourceCommit != null,
        headSha: one.lastMergeSourceCommit?.commitId ?? '',
        headBranch: branchOf(one.sourceRefName),
        base: branchOf(one.targetRefName),
        fromFork: one.forkSource != null || !one.sourceRefName.startsWith('refs/heads/'),
        title: (one.title ?? '').slice(0, 255),
        body: one.description?.slice(0, 2000) ?? null,
        url: one.repository.webUrl && `${one.repository.webUrl}/pullrequest/${one.pullRequestId}`,
        sender: senderOf(one.createdBy),
        mergeable: unsettled.includes(one.mergeStatus ?? '') ? null : one.mergeStatus === 'succeeded',
      }
    );
  },
  /** In a public project every account can vote, so votes do not count there; a group's vote is one of its members. */
  isApproved: async (call, identifier, { number }) => {
    const one = v.parse(pullRequest, (await ask(call, { method: 'GET', path: pathOf(identifier, number) })).body);
    if (one.repository.project?.visibility !== 'private') return false;
    const others = (one.reviewers ?? []).filter(({ id, isContainer }) => !isContainer && id !== one.createdBy.id);
    return others.some(({ vote }) => vote > 0) && !others.some(({ vote }) => vote < 0);
  },
  pullFiles: async (call, identifier, number) => {
    const path = `${pathOf(identifier, number)}/iterations`;
    const iterations = await ask(call, { method: 'GET', path });
    const last = v.parse(listOf(v.object({ id: v.number() })), iterations.body).value.at(-1);
    if (!last) return undefined;
    const change = v.object({
      item: v.nullish(v.object({ path: v.nullish(v.string()) })),
      originalPath: v.nullish(v.string()),
    });
    const { body } = await ask(call, {
      method: 'GET',
      path: `${path}/${last.id}/changes`,
      query: { $compareTo: 0, $top: maxFiles },
    });
    const { changeEntries: changes } = v.parse(v.object({ changeEntries: v.array(change) }), body);
    if (changes.length >= maxFiles) return undefined;
    const paths = changes.flatMap(({ item, originalPath }) => [item?.path, originalPath]);
    return [...new Set(paths.filter((one) => typeof one === 'string').map(withoutSlash))];
  },
  comments: async (call, identifier, number) => {
    const { body } = await ask(call, { method: 'GET', path: `${pathOf(identifier, number)}/threads` });
    return v
      .parse(listOf(thread), body)
      .value.flatMap(({ id, comments }) =>
        (comments ?? []).flatMap((one) =>
          one.isDeleted ? [] : [{ id: `${id}/${one.id}`, body: one.content ?? '', authorId: one.author.id }],
        ),
      );
  },
  comment: async (call, identifier, { number, id }) => {
    const path = commentPath(identifier, number, id);
    const one = found(comment, await ask(call, { method: 'GET', path, accept: missing }));
    if (!one || one.isDeleted) return undefined;
    const { lastContentUpdatedDate: changed, publishedDate: createdAt } = one;
    return {
      id,
      number,
      body: one.content ?? '',
      authorId: one.author.id,
      author: nameOf(one.author),
      edited: changed != null && changed !== createdAt,
      createdAt,
    };
  },
  postComment: async (call, identifier, number, body) => {
    const path = `${pathOf(identifier, number)}/threads`;
    const sent = { comments: [{ parentCommentId: 0, content: body, commentType: 'text' }], status: 'closed' };
    const made = v.object({ id: v.number(), comments: v.array(v.object({ id: v.number() })) });
    const { id, comments } = v.parse(made, (await ask(call, { method: 'POST', path, body: sent })).body);
    return `${id}/${comments[0]?.id ?? 1}`;
  },
  editComment: async (call, identifier, at, body) => {
    const path = commentPath(identifier, at.number, at.id);
    return (await ask(call, { method: 'PATCH', path, body: { content: body }, accept: [404] })).status !== 404;
  },
};
