import { expect } from 'vitest';
import { archive } from '#test/support/policies.ts';
import { jane, type Kind, me, type Scene } from './kind.ts';

/** GitLab. */

const baseOf = ({ identifier }: Scene): string => `/projects/${encodeURIComponent(identifier)}`;
const zeros = '0'.repeat(40);
const project = { id: 15, default_branch: 'main', web_url: 'https://gitlab.example/acme/infra' };
const diffs = [{ old_path: 'a/old.tf', new_path: 'a/main.tf' }];
const author = { id: me.id, username: me.nickname };

const documentOf = (scene: Scene, level: number) => ({
  ...project,
  path_with_namespace: scene.identifier,
  permissions: { project_access: null, group_access: { access_level: level } },
});

export const gitlab: Kind = {
  dialect: 'gitlab',
  provider: 'gitlab_community_edition',
  apiPath: '',
  source: 'gitlab',
  statusPath: (scene, commit) => `${baseOf(scene)}/statuses/${commit}`,
  pending: { state: 'running', name: 'stepform/acme', target_url: expect.any(String) },
  answer: (scene) => {
    const { forge } = scene;
    const base = baseOf(scene);
    forge.on('GET', '/user', { body: author });
    forge.on('GET', '/projects', { body: [documentOf(scene, 40)] });
    forge.on('GET', base, { body: documentOf(scene, 40) });
    forge.on('GET', `${base}/hooks`, () => ({ body: scene.hooks }));
    forge.on('POST', `${base}/hooks`, ({ body }) => scene.addHook(body, 9, { url: body.url, secret: body.token }));
    forge.on('GET', `${base}/repository/branches/main`, () => ({ body: { commit: { id: scene.head } } }));
    forge.on('GET', new RegExp(`^${base}/repository/commits/`), ({ path }) => ({
      body: { id: path.split('/').at(-1), message: 'A commit', author_name: 'J' },
    }));
    forge.on('GET', `${base}/repository/compare`, { body: { diffs, compare_timeout: false } });
    const merge = `${base}/merge_requests/7`;
    forge.on('GET', merge, () => ({ body: scene.pull }));
    forge.on('GET', `${merge}/diffs`, { body: diffs });
    forge.on('GET', `${merge}/approvals`, () => ({ body: scene.pull.approvals }));
    forge.on('GET', `${merge}/notes`, () => ({ body: scene.comments }));
    forge.on('GET', new RegExp(`^${merge}/notes/\\d+$`), (call) => ({ body: scene.commentAt(call) }));
    forge.on('POST', `${merge}/notes`, ({ body: { body } }) =>
      scene.addComment({ id: 70 + scene.comments.length, body, author }),
    );
    forge.on('POST', new RegExp(`^${base}/statuses/`), { status: 201, body: {} });
  },
  forbid: (scene) => scene.forge.on('GET', baseOf(scene), { body: documentOf(scene, 30) }),
  archive: async (scene, commit) => {
    const body = await archive({ 'infra-1/main.tf': '# 1' });
    scene.forge.on('GET', `${baseOf(scene)}/repository/archive.tar.gz`, ({ query }) =>
      query.get('sha') === commit ? { body } : { status: 404 },
    );
  },
  push: (...changes) =>
    changes.map(([type, name, from, to]) => [
      type === 'tag' ? 'Tag Push Hook' : 'Push Hook',
      {
        ref: `refs/${type === 'tag' ? 'tags' : 'heads'}/${name}`,
        before: from ?? zeros,
        after: to ?? zeros,
        checkout_sha: to,
        project,
        user_username: jane.nickname,
      },
    ]),
  pullEvent: (name) => [
    'Merge Request Hook',
    {
      project,
      object_attributes: {
        iid: 7,
        action: { opened: 'open', pushed: 'update', merged: 'merge' }[name],
        ...(name === 'pushed' ? { oldrev: zeros } : {}),
      },
    },
  ],
  commentEvent: (id, note) => [
    'Note Hook',
    { project, object_attributes: { id, note, noteable_type: 'MergeRequest' }, merge_request: { iid: 7 } },
  ],
  elsewhere: { project: { ...project, id: 16 } },
  signed: (scene, event, id) => ({
    'x-gitlab-event': event,
    'x-gitlab-token': scene.hooks[0]?.secret,
    'idempotency-key': id,
  }),
  unsigned: () => [{ 'x-gitlab-token': 'wrong' }, { 'x-gitlab-token': '' }],
  pull: (commit, { fork = false, over = false, votes = [] } = {}) => ({
    iid: 7,
    state: over ? 'merged' : 'opened',
    title: 'Change it',
    web_url: 'https://gitlab.example/mr/7',
    sha: commit,
    source_branch: 'f',
    target_branch: 'main',
    source_project_id: fork ? 99 : 15,
    target_project_id: 15,
    author: { username: jane.nickname, avatar_url: null },
    approvals: {
      approved: !votes.some(([, vote]) => vote === 'changes'),
      approved_by: votes.map(([{ nickname }]) => ({ user: { username: nickname ?? 'x' } })),
    },
  }),
  edited: (body) => ({
    id: 1,
    body,
    author: { id: jane.id, username: jane.nickname },
    created_at: '2026-01-01',
    updated_at: '2026-01-02',
  }),
};
