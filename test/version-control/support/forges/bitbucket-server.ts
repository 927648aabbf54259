import { expect } from 'vitest';
import { archive } from '#test/support/policies.ts';
import { signedByHmac, unsignedByHmac } from './bitbucket.ts';
import { jane, type Kind, me, type Scene } from './kind.ts';

/** Bitbucket Data Center. */

const baseOf = ({ identifier }: Scene): string => `/rest/api/1.0/projects/${identifier.replace('/', '/repos/')}`;
const hooksOf = (scene: Scene): string => `${baseOf(scene)}/webhooks`;
const files = [{ path: { components: ['a', 'main.tf'] }, srcPath: { components: ['a', 'old.tf'] } }];
const zeros = '0'.repeat(40);

const refOf = (name: string, repository: number) => ({
  id: `refs/heads/${name}`,
  displayId: name,
  repository: { id: repository },
});

export const bitbucketServer: Kind = {
  dialect: 'bitbucket-server',
  provider: 'bitbucket_data_center',
  apiPath: '',
  source: 'bitbucket',
  statusPath: (scene, commit) => `${baseOf(scene)}/commits/${commit}/builds`,
  pending: { state: 'INPROGRESS', name: 'stepform/acme', url: expect.any(String) },
  answer: (scene) => {
    const { forge, identifier } = scene;
    const base = baseOf(scene);
    const [key, slug] = identifier.split('/');
    const repository = { id: 1, slug, project: { key }, links: { self: [{ href: `${forge.url}/r` }] } };
    const headers = { 'x-auserid': '1', 'x-ausername': 'bot' };
    forge.on('GET', '/rest/api/1.0/repos', { body: { values: [repository] }, headers });
    forge.on('GET', base, { body: repository });
    forge.on('GET', `${base}/default-branch`, { body: { displayId: 'main' } });
    forge.on('GET', hooksOf(scene), () => ({ body: { values: scene.hooks } }));
    forge.on('POST', hooksOf(scene), ({ body }) =>
      scene.addHook(body, 9, { url: body.url, secret: body.configuration.secret }),
    );
    // The filter is a part of the name.
    forge.on('GET', `${base}/branches`, () => ({
      body: {
        values: [
          { displayId: 'main-2', latestCommit: 'f'.repeat(40) },
          { displayId: 'main', latestCommit: scene.head },
        ],
      },
    }));
    forge.on('GET', `${base}/tags`, () => ({ body: { values: [{ displayId: 'v1', latestCommit: scene.head }] } }));
    forge.on('GET', new RegExp(`^${base}/commits/`), ({ path }) => ({
      body: { id: path.split('/').at(-1), message: 'A commit', author: { name: 'J' } },
    }));
    forge.on('GET', `${base}/changes`, ({ query }) => ({
      body: query.get('start') === '0' ? { values: [], nextPageStart: 1000 } : { values: files },
    }));
    const pull = `${base}/pull-requests/7`;
    forge.on('GET', pull, () => ({ body: scene.pull }));
    forge.on('GET', `${pull}/merge`, { body: { canMerge: true, conflicted: false } });
    forge.on('GET', `${pull}/changes`, { body: { values: files } });
    forge.on('GET', `${pull}/activities`, () => ({
      body: { values: [{ action: 'OPENED' }, ...scene.comments.map((comment) => ({ action: 'COMMENTED', comment }))] },
    }));
    forge.on('GET', new RegExp(`^${pull}/comments/\\d+$`), (call) => ({ body: scene.commentAt(call) }));
    forge.on('POST', `${pull}/comments`, ({ body: { text } }) =>
      scene.addComment({ id: 70 + scene.comments.length, version: 0, text, author: me, createdDate: 0 }),
    );
    forge.on('POST', new RegExp(`^${base}/commits/.*/builds$`), { status: 204 });
  },
  forbid: (scene) => scene.forge.on('GET', hooksOf(scene), { status: 401, body: {} }),
  archive: async (scene, commit) => {
    const body = await archive({ 'commit/main.tf': '# 1' });
    scene.forge.on('GET', `${baseOf(scene)}/archive`, ({ query }) =>
      query.get('at') === commit && query.get('format') === 'tar.gz' ? { body } : { status: 404 },
    );
  },
  push: (...changes) => [
    [
      'repo:refs_changed',
      {
        changes: changes.map(([type, displayId, from, to]) => ({
          ref: { displayId, type: type.toUpperCase() },
          type: to ? (from ? 'UPDATE' : 'ADD') : 'DELETE',
          fromHash: from ?? zeros,
          toHash: to ?? zeros,
        })),
      },
    ],
  ],
  pullEvent: (name) => [
    { opened: 'pr:opened', pushed: 'pr:from_ref_updated', merged: 'pr:merged' }[name],
    { pullRequest: { id: 7, toRef: { repository: { id: 1 } } } },
  ],
  commentEvent: (id, text) => [
    'pr:comment:added',
    { pullRequest: { id: 7, toRef: { repository: { id: 1 } } }, comment: { id, text } },
  ],
  elsewhere: { repository: { id: 2 } },
  signed: signedByHmac,
  unsigned: unsignedByHmac,
  pull: (commit, { fork = false, over = false, votes = [] } = {}) => ({
    id: 7,
    state: over ? 'MERGED' : 'OPEN',
    title: 'Change it',
    author: { user: jane },
    fromRef: { ...refOf('f', fork ? 2 : 1), latestCommit: commit },
    toRef: { ...refOf('main', 1), latestCommit: zeros },
    reviewers: votes.map(([user, vote]) => ({ user, status: vote === 'approved' ? 'APPROVED' : 'NEEDS_WORK' })),
  }),
  open: (scene) => {
    scene.pull.toRef.repository.public = true;
  },
  edited: (text) => ({ id: 1, text, author: jane, version: 1, createdDate: 0 }),
};
