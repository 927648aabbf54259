import { expect } from 'vitest';
import { archive } from '#test/support/policies.ts';
import { signature } from '../signature.ts';
import { jane, type Kind, me, type Scene } from './kind.ts';

/** GitHub, and Gitea, whose documents have the same form. */

const baseOf = ({ identifier }: Scene): string => `/repos/${identifier}`;
const zeros = '0'.repeat(40);
const files = [{ filename: 'a/main.tf', previous_filename: 'a/old.tf' }];
const login = ({ id, nickname }: { id: number; nickname?: string }) => ({ id, login: nickname ?? 'x' });
const repository = { id: 100, full_name: 'acme/infra', default_branch: 'main' };

const documentOf = (scene: Scene, admin: boolean) => ({
  ...repository,
  full_name: scene.identifier,
  permissions: { admin },
});

export const github: Kind = {
  dialect: 'github',
  provider: 'github_enterprise',
  apiPath: '',
  source: 'github',
  statusPath: (scene, commit) => `${baseOf(scene)}/statuses/${commit}`,
  pending: { state: 'pending', context: 'stepform/acme', target_url: expect.any(String) },
  answer: (scene) => {
    const { forge } = scene;
    const base = baseOf(scene);
    forge.on('GET', '/user', { body: login(me) });
    forge.on('GET', '/user/repos', { body: [documentOf(scene, true)] });
    forge.on('GET', base, { body: documentOf(scene, true) });
    forge.on('GET', `${base}/hooks`, () => ({ body: scene.hooks }));
    forge.on('POST', `${base}/hooks`, ({ body }) => scene.addHook(body, 9, body.config));
    forge.on('GET', `${base}/branches/main`, () => ({ body: { commit: { sha: scene.head } } }));
    forge.on('GET', new RegExp(`^${base}/commits/`), ({ path }) => ({
      body: { sha: path.split('/').at(-1), commit: { message: 'A commit', author: { name: 'J' } } },
    }));
    forge.on('GET', new RegExp(`^${base}/compare/`), { body: { files, behind_by: 0 } });
    const pull = `${base}/pulls/7`;
    forge.on('GET', pull, () => ({ body: scene.pull }));
    forge.on('GET', `${pull}/files`, { body: files });
    forge.on('GET', `${pull}/reviews`, () => ({ body: scene.pull.reviews }));
    const comments = `${base}/issues/7/comments`;
    forge.on('GET', comments, () => ({ body: scene.comments }));
    forge.on('GET', new RegExp(`^${base}/issues/comments/\\d+$`), (call) => ({ body: scene.commentAt(call) }));
    forge.on('POST', comments, ({ body: { body } }) =>
      scene.addComment({ id: 70 + scene.comments.length, body, user: login(me) }),
    );
    forge.on('POST', new RegExp(`^${base}/statuses/`), { status: 201, body: {} });
  },
  forbid: (scene) => scene.forge.on('GET', baseOf(scene), { body: documentOf(scene, false) }),
  archive: async (scene, commit) => {
    const body = await archive({ 'infra-1/main.tf': '# 1' });
    scene.forge.on('GET', `${baseOf(scene)}/tarball/${commit}`, { body });
    scene.forge.on('GET', `${baseOf(scene)}/archive/${commit}.tar.gz`, { body });
  },
  push: (...changes) =>
    changes.map(([type, name, from, to]) => [
      'push',
      {
        ref: `refs/${type === 'tag' ? 'tags' : 'heads'}/${name}`,
        before: from ?? zeros,
        after: to ?? zeros,
        head_commit: to && { id: to },
        repository,
        sender: login(jane),
      },
    ]),
  pullEvent: (name) => [
    'pull_request',
    { action: { opened: 'opened', pushed: 'synchronize', merged: 'closed' }[name], number: 7, repository },
  ],
  commentEvent: (id, body) => [
    'issue_comment',
    { action: 'created', issue: { number: 7, pull_request: {} }, comment: { id, body }, repository },
  ],
  elsewhere: { repository: { ...repository, id: 101 } },
  signed: (scene, event, id, body) => ({
    'x-github-event': event,
    'x-github-delivery': id,
    'x-hub-signature-256': signature(body, scene.hooks[0]?.secret),
  }),
  unsigned: (scene) =>
    [signature('{}', scene.hooks[0]?.secret), 'sha256=', ''].map((given) => ({ 'x-hub-signature-256': given })),
  pull: (commit, { fork = false, over = false, votes = [] } = {}) => ({
    number: 7,
    state: over ? 'closed' : 'open',
    title: 'Change it',
    html_url: 'https://github.example/pull/7',
    user: login(jane),
    head: { sha: commit, ref: 'f', repo: fork ? null : { id: 100 } },
    base: { ref: 'main', repo: { id: 100 } },
    reviews: votes.map(([user, vote]) => ({
      state: vote === 'approved' ? 'APPROVED' : 'CHANGES_REQUESTED',
      user: login(user),
      commit_id: commit,
      author_association: 'MEMBER',
    })),
  }),
  // Every account can approve, but a stranger's approval is marked as one.
  open: (scene) => {
    for (const review of scene.pull.reviews) review.author_association = 'NONE';
  },
  edited: (body) => ({
    id: 1,
    body,
    user: login(jane),
    created_at: '2026-01-01',
    updated_at: '2026-01-02',
    issue_url: 'https://github.example/issues/7',
  }),
};
