import * as v from 'valibot';
import type { PullForge } from '../forge.ts';
import { allPages, found, missing } from '../github/forge.ts';
import { id, optionalWebUrl, sha, webUrl } from '../github/schemas.ts';
import { diffs, pageSize, pathsOf, project } from './forge.ts';

/** Merge requests of GitLab. */

const user = v.object({
  username: v.string(),
  avatar_url: optionalWebUrl,
  web_url: optionalWebUrl,
});

const mergeRequest = v.object({
  iid: v.number(),
  state: v.string(),
  title: v.nullish(v.string(), ''),
  description: v.nullish(v.string(), null),
  web_url: webUrl,
  sha: sha,
  source_branch: v.string(),
  target_branch: v.string(),
  source_project_id: v.nullish(id),
  target_project_id: id,
  author: v.nullish(user),
  detailed_merge_status: v.nullish(v.string()),
});

/** Statuses that GitLab is still computing (GitLab: merge requests API, merge status). */
const unsettled = ['unchecked', 'checking', 'preparing', 'approvals_syncing'];
const isMergeable = (status: string | null | undefined): boolean | null =>
  !status || unsettled.includes(status) ? null : status === 'mergeable';

const onMerge = v.object({
  id,
  body: v.string(),
  author: v.object({ id, username: v.string() }),
  created_at: v.string(),
  updated_at: v.string(),
});

export const gitlabPulls: PullForge = {
  pull: async (call, identifier, number) => {
    const path = `${project(identifier)}/merge_requests/${number}`;
    const one = found(mergeRequest, await call({ method: 'GET', path, accept: missing }));
    return (
      one && {
        number: one.iid,
        open: one.state === 'opened',
        headSha: one.sha,
        headBranch: one.source_branch,
        base: one.target_branch,
        mergeable: isMergeable(one.detailed_merge_status),
        fromFork: one.source_project_id !== one.target_project_id,
        title: (one.title ?? '').slice(0, 255),
        body: one.description?.slice(0, 2000) ?? null,
        url: one.web_url ?? '',
        sender: one.author
          ? { username: one.author.username, avatarUrl: one.author.avatar_url, htmlUrl: one.author.web_url ?? null }
          : null,
      }
    );
  },
  isApproved: async (call, identifier, { number, sender }) => {
    const path = `${project(identifier)}/merge_requests/${number}/approvals`;
    const schema = v.object({
      approved: v.nullish(v.boolean(), true),
      approved_by: v.array(v.object({ user: v.object({ username: v.string() }) })),
    });
    const { approved, approved_by: by } = v.parse(schema, (await call({ method: 'GET', path })).body);
    return (approved ?? true) && by.some((one) => one.user.username !== sender?.username);
  },
  pullFiles: async (call, identifier, number) => {
    const path = `${project(identifier)}/merge_requests/${number}/diffs`;
    const files = await allPages(
      async (page) => v.parse(diffs, (await call({ method: 'GET', path, query: { per_page: pageSize, page } })).body),
      pageSize,
    );
    return files && pathsOf(files);
  },
  comments: async (call, identifier, number) => {
    const path = `${project(identifier)}/merge_requests/${number}/notes`;
    const query = { sort: 'asc', order_by: 'created_at', per_page: pageSize };
    const schema = v.array(v.object({ id, body: v.string(), author: v.object({ id }) }));
    const notes = v.parse(schema, (await call({ method: 'GET', path, query })).body);
    return notes.map((note) => ({ id: note.id, body: note.body, authorId: note.author.id }));
  },
  comment: async (call, identifier, { number, id: noteId }) => {
    const path = `${project(identifier)}/merge_requests/${number}/notes/${encodeURIComponent(noteId)}`;
    const one = found(onMerge, await call({ method: 'GET', path, accept: missing }));
    return (
      one && {
        id: one.id,
        number,
        body: one.body,
        authorId: one.author.id,
        author: one.author.username,
        edited: one.updated_at !== one.created_at,
        createdAt: one.created_at,
      }
    );
  },
  postComment: async (call, identifier, number, body) => {
    const path = `${project(identifier)}/merge_requests/${number}/notes`;
    return v.parse(v.object({ id }), (await call({ method: 'POST', path, body: { body } })).body).id;
  },
  editComment: async (call, identifier, at, body) => {
    const path = `${project(identifier)}/merge_requests/${at.number}/notes/${at.id}`;
    return (await call({ method: 'PUT', path, body: { body }, accept: [404] })).status !== 404;
  },
};
