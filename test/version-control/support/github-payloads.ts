/** Webhooks as GitHub documents them (docs.github.com/webhooks/webhook-events-and-payloads), with their main attributes. */

type Payload = Record<string, unknown>;

const url = 'https://github.com/Codertocat/Hello-World';
const sha = (digit: string): string => digit.repeat(40);
const zeros = sha('0');

const user = {
  login: 'Codertocat',
  id: 21031067,
  avatar_url: 'https://avatars1.githubusercontent.com/u/21031067?v=4',
  html_url: 'https://github.com/Codertocat',
  type: 'User',
  site_admin: false,
};
const repository = {
  id: 186853002,
  node_id: 'MDEwOlJlcG9zaXRvcnkxODY4NTMwMDI=',
  name: 'Hello-World',
  full_name: 'Codertocat/Hello-World',
  private: false,
  owner: user,
  html_url: url,
  clone_url: `${url}.git`,
  default_branch: 'master',
};
const about = { repository, sender: user };

const commit = { id: sha('b'), message: 'Update', timestamp: '2019-05-15T15:20:32Z', added: [], modified: ['a.tf'] };
const pushed = { before: sha('a'), after: sha('b'), created: false, deleted: false, forced: false, base_ref: null };
const push = (ref: string, more: Payload = {}): Payload => ({
  ref,
  ...pushed,
  compare: `${url}/compare/aaa...bbb`,
  commits: [commit],
  head_commit: commit,
  pusher: { name: 'Codertocat', email: '21031067+Codertocat@users.noreply.github.com' },
  ...about,
  ...more,
});
const removed = { after: zeros, deleted: true, head_commit: null, commits: [] };

const side = (ref: string, digit: string) => ({
  label: `Codertocat:${ref}`,
  ref,
  sha: sha(digit),
  user,
  repo: repository,
});
const pull = (action: string, more: Payload = {}): Payload => ({
  action,
  number: 2,
  pull_request: {
    id: 279147437,
    number: 2,
    state: action === 'closed' ? 'closed' : 'open',
    title: 'Update the README with new information.',
    html_url: `${url}/pull/2`,
    user,
    merged: false,
    draft: false,
    head: side('changes', 'b'),
    base: side('master', 'a'),
  },
  ...about,
  ...more,
});

const issue = { id: 444500041, number: 1, title: 'Spelling error', state: 'open', user, html_url: `${url}/issues/1` };
const comment = (action: string, more: Payload = {}): Payload => ({
  action,
  issue: { ...issue, ...more },
  comment: { id: 492700400, body: 'You are totally right!', user, created_at: '2019-05-15T15:20:21Z' },
  ...about,
});

const mergeGroup = (action: string): Payload => ({
  action,
  merge_group: {
    head_sha: sha('c'),
    head_ref: 'refs/heads/gh-readonly-queue/master/pr-2-aaaa',
    base_ref: 'refs/heads/master',
    base_sha: sha('a'),
    head_commit: commit,
  },
  ...about,
});

const installation = (action: string): Payload => ({
  action,
  installation: { id: 957387, account: user, repository_selection: 'selected', permissions: { contents: 'read' } },
  repositories: [{ id: 1296269, name: 'Hello-World', full_name: 'octocat/Hello-World', private: false }],
  sender: user,
});

const pullActions = [
  'opened reopened synchronize closed assigned unassigned labeled unlabeled locked unlocked converted_to_draft',
  'ready_for_review review_requested review_request_removed auto_merge_enabled enqueued dequeued milestoned',
].flatMap((actions) => actions.split(' '));

/** By the kind in the header X-GitHub-Event. */
export const githubPayloads: Record<string, Payload[]> = {
  push: [
    push('refs/heads/master'),
    push('refs/heads/new', { before: zeros, created: true }),
    push('refs/heads/changes', { forced: true }),
    push('refs/heads/changes', removed),
    push('refs/tags/simple-tag', { before: zeros, created: true, base_ref: 'refs/heads/master' }),
    push('refs/tags/simple-tag', removed),
  ],
  pull_request: [
    ...pullActions.map((action) => pull(action)),
    pull('edited', { changes: { title: { from: 'Update' } } }),
    pull('edited', { changes: { base: { ref: { from: 'develop' }, sha: { from: sha('d') } } } }),
  ],
  issue_comment: [
    comment('created'),
    comment('edited'),
    comment('deleted'),
    comment('created', { pull_request: { url: `${url}/pull/1`, html_url: `${url}/pull/1` } }),
  ],
  merge_group: [mergeGroup('checks_requested'), mergeGroup('destroyed')],
  installation: [installation('created'), installation('deleted')],
  star: [{ action: 'created', starred_at: '2019-05-15T15:20:40Z', ...about }],
};
