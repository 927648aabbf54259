import { expect } from 'vitest';
import { archive } from '#test/support/policies.ts';
import { signature } from '../signature.ts';
import { type Change, jane, type Kind, me, type Scene } from './kind.ts';

/** Bitbucket Cloud. */

const baseOf = ({ identifier }: Scene): string => `/2.0/repositories/${identifier}`;
const hooksOf = (scene: Scene): string => `${baseOf(scene)}/hooks`;
const files = [{ status: 'modified', old: { path: 'a/old.tf' }, new: { path: 'a/main.tf' } }];

export const signedByHmac = (scene: Scene, event: string, id: string, body: string): Record<string, string> => ({
  'x-event-key': event,
  'x-request-uuid': id,
  'x-request-id': id,
  'x-hub-signature': signature(body, scene.hooks[0]?.secret),
});
export const unsignedByHmac = (scene: Scene): Record<string, string>[] =>
  [signature('{}', scene.hooks[0]?.secret), 'sha256=', ''].map((given) => ({ 'x-hub-signature': given }));

const changeOf = ([type, name, from, to]: Change) => ({
  old: from && { type, name, target: { hash: from } },
  new: to && { type, name, target: { hash: to } },
});

export const bitbucket: Kind = {
  dialect: 'bitbucket',
  provider: 'bitbucket_hosted',
  apiPath: '/2.0',
  source: 'bitbucket',
  statusPath: (scene, commit) => `${baseOf(scene)}/commit/${commit}/statuses/build`,
  pending: { state: 'INPROGRESS', name: 'stepform/acme', url: expect.any(String) },
  answer: (scene) => {
    const { forge, identifier } = scene;
    const base = baseOf(scene);
    const repository = { uuid: '{r-1}', full_name: identifier, is_private: true, mainbranch: { name: 'main' } };
    forge.on('GET', '/2.0/user', { body: me });
    forge.on('GET', '/2.0/user/workspaces', { body: { values: [{ workspace: { slug: 'acme' } }] } });
    forge.on('GET', '/2.0/repositories/acme', { body: { values: [repository] } });
    forge.on('GET', base, { body: repository });
    forge.on('GET', hooksOf(scene), () => ({ body: { values: scene.hooks } }));
    forge.on('POST', hooksOf(scene), ({ body }) => scene.addHook(body, '{h-1}', body));
    forge.on('GET', `${base}/refs/branches/main`, () => ({ body: { name: 'main', target: { hash: scene.head } } }));
    // Ids in pull requests are abbreviated.
    forge.on('GET', new RegExp(`^${base}/commit/`), ({ path }) => {
      const given = path.split('/').at(-1) ?? '';
      const hash = given.length < 40 ? scene.pull.full : given;
      return { body: { hash, message: 'A commit\n', author: { raw: 'J <j@example.com>' } } };
    });
    forge.on('GET', new RegExp(`^${base}/diffstat/`), ({ query }) => ({
      body: query.get('page') ? { values: files } : { values: [], next: 'https://elsewhere.example/2.0/x?page=p2' },
    }));
    forge.on('GET', `${base}/pullrequests/7`, () => ({ body: scene.pull }));
    forge.on('GET', `${base}/pullrequests/7/diffstat`, { body: { values: files } });
    const comments = `${base}/pullrequests/7/comments`;
    forge.on('GET', comments, () => ({ body: { values: scene.comments } }));
    forge.on('GET', new RegExp(`^${comments}/\\d+$`), (call) => ({ body: scene.commentAt(call) }));
    forge.on('POST', comments, ({ body: { content } }) =>
      scene.addComment({ id: 70 + scene.comments.length, content, user: me, created_on: '2026-01-01' }),
    );
    forge.on('POST', new RegExp(`^${base}/commit/.*/statuses/build$`), { status: 201, body: {} });
  },
  forbid: (scene) => scene.forge.on('GET', hooksOf(scene), { status: 401, body: {} }),
  archive: async ({ forge, identifier }, commit) => {
    const body = await archive({ 'commit/main.tf': '# 1' });
    forge.on('GET', `/${identifier}/get/${commit}.tar.gz`, { body });
  },
  push: (...changes) => [['repo:push', { push: { changes: changes.map(changeOf) } }]],
  pullEvent: (name) => [
    { opened: 'pullrequest:created', pushed: 'pullrequest:updated', merged: 'pullrequest:fulfilled' }[name],
    { pullrequest: { id: 7 } },
  ],
  commentEvent: (id, raw) => [
    'pullrequest:comment_created',
    { pullrequest: { id: 7 }, comment: { id, content: { raw } } },
  ],
  elsewhere: { repository: { uuid: '{r-2}' } },
  signed: signedByHmac,
  unsigned: unsignedByHmac,
  pull: (commit, { fork = false, over = false, votes = [] } = {}) => ({
    id: 7,
    state: over ? 'MERGED' : 'OPEN',
    title: 'Change it',
    author: jane,
    full: commit,
    source: {
      branch: { name: 'f' },
      commit: { hash: commit.slice(0, 12) },
      repository: fork ? null : { uuid: '{r-1}' },
    },
    destination: { branch: { name: 'main' }, repository: { uuid: '{r-1}' } },
    participants: votes.map(([user, vote]) => ({
      user,
      approved: vote === 'approved',
      state: vote === 'approved' ? 'approved' : 'changes_requested',
    })),
  }),
  open: (scene) => {
    const body = { uuid: '{r-1}', full_name: scene.identifier, is_private: false };
    scene.forge.on('GET', baseOf(scene), { body });
  },
  edited: (raw) => ({ id: 1, content: { raw }, user: jane, created_on: '2026-01-01', updated_on: '2026-01-02' }),
};
