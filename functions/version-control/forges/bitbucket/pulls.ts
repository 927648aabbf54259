import * as v from 'valibot';
import type { PullForge } from '../forge.ts';
import { found, missing } from '../github/forge.ts';
import { id } from '../github/schemas.ts';
import { diffstat, fullSha, listed, pathsOf, repo } from './forge.ts';
import { links, nameOf, senderOf, user } from './schemas.ts';

/** Pull requests of Bitbucket Cloud. */

/** `repository` is null for a deleted fork, `commit` if its branch was deleted. */
const end = v.object({
  branch: v.object({ name: v.string() }),
  commit: v.nullish(v.object({ hash: v.string() })),
  repository: v.nullish(v.object({ uuid: v.string() })),
});

const pullRequest = v.object({
  id: v.number(),
  state: v.string(),
  title: v.nullish(v.string(), ''),
  summary: v.nullish(v.object({ raw: v.nullish(v.string(), '') })),
  links,
  author: v.nullish(user),
  source: end,
  destination: end,
  participants: v.nullish(
    v.array(
      v.object({
        user: v.nullish(v.object({ uuid: v.string() })),
        role: v.nullish(v.string()),
        approved: v.nullish(v.boolean(), false),
        state: v.nullish(v.string()),
      }),
    ),
    [],
  ),
});

const pathOf = (identifier: string, number: number): string => `${repo(identifier)}/pullrequests/${number}`;

/** Statuses of files that cannot be merged, among those of the list of changed files. */
const conflicts = ['merge conflict', 'local deleted', 'remote deleted', 'subrepo conflict', 'rename conflict'];

const comment = v.object({
  id,
  content: v.object({ raw: v.nullish(v.string(), '') }),
  user: v.nullish(user),
  deleted: v.nullish(v.boolean(), false),
  created_on: v.string(),
  updated_on: v.nullish(v.string()),
});

export const bitbucketPulls: PullForge = {
  pull: async (call, identifier, number) => {
    const path = pathOf(identifier, number);
    const one = found(pullRequest, await call({ method: 'GET', path, accept: missing }));
    if (!one) return undefined;
    const { source, destination } = one;
    const open = one.state === 'OPEN';
    const [headSha, files] = open
      ? await Promise.all([
          source.commit && fullSha(call, identifier, source.commit.hash),
          diffstat(call, `${path}/diffstat`),
        ])
      : [undefined, undefined];
    return {
      number: one.id,
      open: open && headSha != null,
      headSha: headSha ?? source.commit?.hash ?? '',
      headBranch: source.branch.name,
      base: destination.branch.name,
      fromFork: !source.repository || source.repository.uuid !== destination.repository?.uuid,
      title: (one.title ?? '').slice(0, 255),
      body: one.summary?.raw?.slice(0, 2000) || null,
      url: one.links.html.href,
      sender: senderOf(one.author),
      mergeable: files ? !files.some(({ status }) => conflicts.includes(status ?? '')) : null,
    };
  },
  /** In a public repository every account can approve, so approvals do not count there. */
  isApproved: async (call, identifier, { number }) => {
    const [answer, repository] = await Promise.all([
      call({ method: 'GET', path: pathOf(identifier, number) }),
      call({ method: 'GET', path: repo(identifier) }),
    ]);
    if (!v.parse(v.object({ is_private: v.boolean() }), repository.body).is_private) return false;
    const { author, participants } = v.parse(pullRequest, answer.body);
    const others = (participants ?? []).filter((one) => one.user && one.user.uuid !== author?.uuid);
    return others.some(({ approved }) => approved) && !others.some(({ state }) => state === 'changes_requested');
  },
  pullFiles: async (call, identifier, number) => {
    const files = await diffstat(call, `${pathOf(identifier, number)}/diffstat`);
    return files && pathsOf(files);
  },
  comments: async (call, identifier, number) => {
    const all = await listed(call, `${pathOf(identifier, number)}/comments`, comment, {
      query: { sort: 'created_on' },
    });
    return (all ?? []).flatMap((one) =>
      one.deleted ? [] : [{ id: one.id, body: one.content.raw ?? '', authorId: one.user?.uuid ?? '' }],
    );
  },
  comment: async (call, identifier, { number, id: commentId }) => {
    const path = `${pathOf(identifier, number)}/comments/${encodeURIComponent(commentId)}`;
    const one = found(comment, await call({ method: 'GET', path, accept: missing }));
    if (!one?.user || one.deleted) return undefined;
    return {
      id: one.id,
      number,
      body: one.content.raw ?? '',
      authorId: one.user.uuid,
      author: nameOf(one.user),
      edited: one.updated_on != null && one.updated_on !== one.created_on,
      createdAt: one.created_on,
    };
  },
  postComment: async (call, identifier, number, body) => {
    const path = `${pathOf(identifier, number)}/comments`;
    return v.parse(v.object({ id }), (await call({ method: 'POST', path, body: { content: { raw: body } } })).body).id;
  },
  editComment: async (call, identifier, at, body) => {
    const path = `${pathOf(identifier, at.number)}/comments/${encodeURIComponent(at.id)}`;
    const answer = await call({ method: 'PUT', path, body: { content: { raw: body } }, accept: [404, 410] });
    return answer.status < 300;
  },
};
