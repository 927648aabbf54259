import { expect } from 'vitest';
import { zipOf } from '#environments/templates/zip.ts';
import { jane, type Kind, me, type Scene } from './kind.ts';

/** Azure DevOps. */

const named = ({ id, name }: typeof me) => ({ id: `u-${id}`, displayName: name, uniqueName: name });
const apiPath = '/acme-org';
const nameOf = ({ identifier }: Scene): string => identifier.split('/').at(-1) ?? '';
const baseOf = (scene: Scene): string => `${apiPath}/acme/_apis/git/repositories/${nameOf(scene)}`;
const subscriptions = `${apiPath}/_apis/hooks/subscriptions`;
const basic = (password: string, user = 'stepform') => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});
const zeros = '0'.repeat(40);
const repository = { id: 'r-1', defaultBranch: 'refs/heads/main' };

export const azureDevops: Kind = {
  dialect: 'azure-devops',
  provider: 'ado_services',
  apiPath,
  between: '/_git/',
  source: 'ado',
  statusPath: (scene, commit) => `${baseOf(scene)}/commits/${commit}/statuses`,
  pending: { state: 'pending', context: { genre: 'stepform', name: 'acme' }, targetUrl: expect.any(String) },
  answer: (scene) => {
    const { forge } = scene;
    const base = baseOf(scene);
    const { authorization } = basic('good', '');
    forge.tokens.add(authorization);
    const full = {
      ...repository,
      name: nameOf(scene),
      url: `${forge.url}${apiPath}/p-1/_apis/git/repositories/r-1`,
      project: { id: 'p-1', name: 'acme' },
      webUrl: `${forge.url}${apiPath}/${scene.identifier}`,
    };
    const user = { id: named(me).id, providerDisplayName: 'bot' };
    forge.on('GET', `${apiPath}/_apis/connectionData`, { body: { authenticatedUser: user } });
    forge.on('GET', `${apiPath}/_apis/git/repositories`, { body: { value: [full] } });
    forge.on('GET', base, { body: full });
    forge.on('GET', subscriptions, () => ({ body: { value: scene.hooks } }));
    forge.on('POST', subscriptions, ({ body }) => {
      const { url, basicAuthPassword: secret } = body.consumerInputs;
      return scene.addHook(body, `s-${scene.hooks.length}`, { url, secret });
    });
    forge.on('GET', `${base}/refs`, ({ query }) => ({
      body: {
        value: query.get('filter')?.startsWith('tags/')
          ? [{ name: 'refs/tags/v1', objectId: 'e'.repeat(40), peeledObjectId: scene.head }]
          : [
              { name: 'refs/heads/main-2', objectId: 'f'.repeat(40) },
              { name: 'refs/heads/main', objectId: scene.head },
            ],
      },
    }));
    forge.on('GET', new RegExp(`^${base}/commits/`), ({ path }) => ({
      body: { commitId: path.split('/').at(-1), comment: 'A commit', author: { name: 'J' } },
    }));
    const changes = [{ item: { path: '/a/main.tf' }, sourceServerItem: '/a/old.tf' }];
    forge.on('GET', `${base}/diffs/commits`, { body: { allChangesIncluded: true, changes } });
    const pull = `${base}/pullRequests/7`;
    forge.on('GET', pull, () => ({ body: scene.pull }));
    forge.on('GET', `${pull}/iterations`, { body: { value: [{ id: 1 }, { id: 2 }] } });
    forge.on('GET', `${pull}/iterations/2/changes`, { body: { changeEntries: [{ item: { path: '/a/main.tf' } }] } });
    forge.on('GET', `${pull}/threads`, () => ({
      body: { value: scene.comments.map((one, i) => ({ id: 5 + i, comments: [one] })) },
    }));
    forge.on('GET', new RegExp(`^${pull}/threads/\\d+/comments/\\d+$`), (call) => ({ body: scene.commentAt(call) }));
    forge.on('POST', `${pull}/threads`, ({ body: { comments } }) => {
      const { content } = comments[0];
      const one = { id: 1, content, author: named(me), publishedDate: '2026-01-01' };
      scene.addComment(one);
      return { body: { id: 5, comments: [one] } };
    });
    forge.on('POST', new RegExp(`^${base}/commits/.*/statuses$`), { status: 201, body: {} });
  },
  forbid: ({ forge }) => forge.on('GET', subscriptions, { status: 401, body: {} }),
  archive: async (scene, commit) => {
    const body = zipOf(['main.tf', 'modules/a/main.tf'].map((name) => ({ name, content: Buffer.from('#') })));
    const root = ['main.tf', 'modules'].map((name) => ({
      path: `/${name}`,
      objectId: zeros,
      gitObjectType: name.includes('.') ? 'blob' : 'tree',
    }));
    scene.forge.on('GET', `${baseOf(scene)}/items`, ({ query }) =>
      query.get('versionDescriptor.version') !== commit
        ? { status: 404 }
        : { body: query.get('$format') === 'zip' ? body : { value: root } },
    );
  },
  push: (...changes) => [
    [
      'git.push',
      {
        resource: {
          repository,
          pushedBy: named(jane),
          refUpdates: changes.map(([type, name, from, to]) => ({
            name: `refs/${type === 'tag' ? 'tags' : 'heads'}/${name}`,
            oldObjectId: from ?? zeros,
            newObjectId: to ?? zeros,
          })),
        },
      },
    ],
  ],
  pullEvent: (name) => [
    name === 'opened' ? 'git.pullrequest.created' : 'git.pullrequest.updated',
    { resource: { repository, pullRequestId: 7, status: name === 'merged' ? 'completed' : 'active' } },
  ],
  commentEvent: (id, content) => [
    'ms.vss-code.git-pullrequest-comment-event',
    {
      resource: {
        comment: { id, content, _links: { threads: { href: 'https://ado.example/threads/5' } } },
        pullRequest: { pullRequestId: 7, repository },
      },
    },
  ],
  elsewhere: {
    resource: {
      repository: { id: 'r-2' },
      refUpdates: [{ name: 'refs/heads/main', oldObjectId: zeros, newObjectId: 'b'.repeat(40) }],
    },
  },
  signed: (scene) => basic(scene.hooks[0]?.secret),
  unsigned: (scene) => [basic('wrong'), basic(scene.hooks[0]?.secret, 'other'), { authorization: '' }],
  pull: (commit, { fork = false, over = false, votes = [] } = {}) => ({
    pullRequestId: 7,
    status: over ? 'completed' : 'active',
    title: 'Change it',
    createdBy: named(jane),
    sourceRefName: 'refs/heads/f',
    targetRefName: 'refs/heads/main',
    lastMergeSourceCommit: { commitId: commit },
    mergeStatus: 'succeeded',
    repository: { project: { visibility: 'private' } },
    ...(fork ? { forkSource: { repository: { id: 'r-9' } } } : {}),
    reviewers: votes.map(([{ id }, vote]) => ({ id: `u-${id}`, vote: vote === 'approved' ? 10 : -5 })),
  }),
  open: (scene) => {
    scene.pull.repository.project.visibility = 'public';
  },
  edited: (content) => ({
    id: 1,
    content,
    author: named(jane),
    publishedDate: '2026-01-01',
    lastContentUpdatedDate: '2026-01-02',
  }),
};
