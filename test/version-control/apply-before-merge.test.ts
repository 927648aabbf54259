import { beforeEach, describe, expect, it } from 'vitest';
import { memberHelpers } from '#test/support/members.ts';
import { Followed, type Json, push, sha } from './support/followed.ts';

/**
 * Plans of pull requests that are applied before the merge: permissions, requirements, and the lock until the merge.
 */

const followed = await Followed.start();
beforeEach(() => followed.reset());

const alice = { id: 41, login: 'alice' };

const link = async (client: Json, hook: string, user: typeof alice, token?: string): Promise<void> => {
  const body = { data: { attributes: { username: user.login } } };
  const answer = await followed.api.call('POST', `oauth-clients/${client.id}/account-link`, { body, token });
  await followed.say(hook, user, answer.body.data.attributes.comment);
};
const open = async (hook: string, n: number, number = 7): Promise<void> => {
  followed.pull = followed.request(n, { number });
  await followed.deliver(hook, 'pull_request', { action: 'opened', number });
  await followed.settle();
};
const close = async (hook: string, number = 7): Promise<void> => {
  followed.pull = followed.request(10, { number, state: 'closed' });
  // At the maximum number of deliveries per second.
  const deliver = () => followed.deliver(hook, 'pull_request', { action: 'closed', number });
  await expect.poll(async () => (await deliver()).status).toBe(202);
};
const plansOf = async (workspace: Json): Promise<Json[]> =>
  (await followed.runsOf(workspace)).filter(({ ingress }) => ingress.pullRequest);
const change = async (id: string, set: Record<string, unknown>): Promise<void> => {
  const { update } = await import('#platform/store/table.ts');
  const { keys } = await import('#platform/store/keys.ts');
  await update(id.startsWith('run-') ? keys.run(id) : keys.workspace(id), { set });
};
/** Saves its plan, at a time before the comment. */
const save = (run: Json, at = new Date(Date.now() - 5000).toISOString()): Promise<void> =>
  change(run.id, {
    status: 'planned_and_saved',
    'plan.status': 'finished',
    'plan.basis': '',
    'statusTimestamps.planned-and-saved-at': at,
  });
const shown = async ({ id }: { id: string }): Promise<Json> => (await followed.api.get(`workspaces/${id}`)).body.data;
const runOf = async (id: string): Promise<Json> => (await import('#resources/runs/records.ts')).getRun(id);

/** A workspace whose pull request has a saved plan, and alice as the owner. */
const saved = async () => {
  const connected = await followed.connect({ 'apply-before-merge-enabled': true });
  await link(connected.client, connected.hook, alice);
  await open(connected.hook, 10);
  const [run] = await plansOf(connected.workspace);
  await save(run);
  return { ...connected, run };
};

it('a plan is saved, applied for users with permission, and holds the workspace until the merge', async () => {
  const { workspace, hook, run } = await saved();
  expect(run).toMatchObject({ savePlan: true, planOnly: false, autoApply: false, ingress: { commitSha: sha(10) } });
  await followed.say(hook, alice, 'stepform apply');
  expect((await runOf(run.id)).decision).toMatchObject({ action: 'apply', by: followed.api.userId });
  expect((await shown(workspace)).attributes['applied-pull-request']).toBe(7);
  await followed.deliver(hook, 'push', push(0, 1));
  await followed.settle();
  expect(await followed.commitsOf(workspace)).toEqual([sha(0), sha(10)]);
  expect((await followed.messages())[0]).toContain('until an applied pull request is merged');
  followed.head = sha(1);
  await close(hook);
  await followed.settle();
  expect((await shown(workspace)).attributes['applied-pull-request']).toBeNull();
  expect(await followed.commitsOf(workspace)).toEqual([sha(0), sha(10), sha(1)]);
});

it('other pull requests cannot be applied meanwhile', async () => {
  const { workspace, hook } = await saved();
  await followed.say(hook, alice, 'stepform apply');
  await open(hook, 20, 8);
  const other = (await plansOf(workspace)).at(-1);
  await save(other);
  await followed.say(hook, alice, 'stepform apply', {}, 8);
  expect((await runOf(other.id)).decision).toBeUndefined();
  expect((await followed.messages())[0]).toContain('#7 was applied to it and is not merged yet');
});

describe('with apply-before-merge-requirements', () => {
  const review = (state: string, change: object = {}) => ({
    state,
    user: { login: 'bob' },
    commit_id: sha(10),
    author_association: 'MEMBER',
    ...change,
  });
  /** Outcome of the comment `stepform apply`. */
  const applied = async (requirements: string[], reviews: object[], pull: object = {}) => {
    const { workspace, hook, run } = await saved();
    await followed.api.patch(`workspaces/${workspace.id}`, { 'apply-before-merge-requirements': requirements });
    followed.pull = followed.request(10, { user: { login: 'carol' }, ...pull });
    followed.forge.on('GET', /\/pulls\/7\/reviews$/, { body: reviews });
    await followed.say(hook, alice, 'stepform apply');
    const action = (await runOf(run.id)).decision?.action;
    return action === 'apply' ? 'applied' : (await followed.messages())[0];
  };
  const unapproved = expect.stringContaining('is not approved');

  it.each([
    ['nothing', [], unapproved],
    ['an approval', [review('APPROVED')], 'applied'],
    ['an approval of an older commit', [review('APPROVED', { commit_id: sha(9) })], unapproved],
    ['an approval by its author', [review('APPROVED', { user: { login: 'carol' } })], unapproved],
    ['an approval by a stranger', [review('APPROVED', { author_association: 'NONE' })], unapproved],
    ['an approval that was dismissed', [review('APPROVED'), review('DISMISSED')], unapproved],
    ['changes requested later', [review('APPROVED'), review('CHANGES_REQUESTED')], unapproved],
    ['changes requested before', [review('CHANGES_REQUESTED'), review('APPROVED')], 'applied'],
    [
      'changes requested by another reviewer',
      [review('APPROVED'), review('CHANGES_REQUESTED', { user: { login: 'dave' } })],
      unapproved,
    ],
    ['an official approval of Gitea', [review('APPROVED', { author_association: null, official: true })], 'applied'],
    [
      'an unofficial approval of Gitea',
      [review('APPROVED', { author_association: null, official: false })],
      unapproved,
    ],
  ])('checks the approval, given %s', async (_, reviews, outcome) => {
    expect(await applied(['approved'], reviews)).toEqual(outcome);
  });

  it.each([
    [true, 'applied'],
    [false, expect.stringContaining('cannot be merged')],
    [null, expect.stringContaining('not known yet')],
  ])('checks whether it can be merged: %s', async (mergeable, outcome) => {
    expect(await applied(['mergeable'], [], { mergeable })).toEqual(outcome);
  });

  it('other requirements are rejected by name', async () => {
    const { workspace } = await followed.connect();
    const { status, body } = await followed.api.patch(`workspaces/${workspace.id}`, {
      'apply-before-merge-requirements': ['undiverged'],
    });
    expect([status, body.errors[0].detail]).toEqual([422, expect.stringContaining('only approved and mergeable')]);
  });
});

describe('the command does not apply', () => {
  const expectRefused = async (hook: string, run: Json, words: string, user = alice): Promise<void> => {
    await followed.say(hook, user, 'stepform apply');
    expect((await runOf(run.id)).decision?.action).not.toBe('apply');
    expect((await followed.messages())[0]).toContain(words);
  };

  it('a plan that was saved after the comment', async () => {
    const { hook, run, workspace } = await saved();
    await save(run, new Date(Date.now() + 5000).toISOString());
    await expectRefused(hook, run, 'its plan was saved after the comment');
    expect((await shown(workspace)).attributes['applied-pull-request']).toBeNull();
  });

  it('a plan of an older commit than the newest', async () => {
    const { hook, run } = await saved();
    followed.pull = followed.request(11);
    await expectRefused(hook, run, 'its newest commit has no plan');
  });

  it('a plan whose state has changed since', async () => {
    const { hook, run, workspace } = await saved();
    await change(workspace.id, { state: { id: 'sv-other', serial: 1, lineage: 'l', md5: 'm', at: 'x', resources: 0 } });
    await expectRefused(hook, run, 'its state has changed since');
    expect((await shown(workspace)).attributes['applied-pull-request']).toBeNull();
  });

  it('for a user without permission', async () => {
    const { hook, run, client } = await saved();
    const { withFlags } = await memberHelpers();
    const { token } = await withFlags('acme', 'read-workspaces');
    const bob = { id: 43, login: 'bob' };
    await link(client, hook, bob, token);
    await expectRefused(hook, run, 'bob may not apply there', bob);
    await followed.say(hook, alice, 'stepform apply');
    await followed.say(hook, bob, 'stepform unlock');
    expect((await followed.messages())[0]).toContain('bob may not unlock');
  });

  it('in a workspace that does not allow it, whose plans cannot be applied', async () => {
    const { workspace, client, hook } = await followed.connect();
    await link(client, hook, alice);
    await open(hook, 10);
    const [run] = await plansOf(workspace);
    expect(run).toMatchObject({ planOnly: true, savePlan: false });
    await expectRefused(hook, run, 'has no plan that can be applied before the merge');
  });
});

it('a saved plan is discarded when a newer commit is pushed or the pull request is closed, but an applied one never is', async () => {
  const { workspace, hook, run } = await saved();
  await open(hook, 11);
  expect((await runOf(run.id)).decision).toMatchObject({ action: 'discard', by: 'vcs' });
  const newer = (await plansOf(workspace)).at(-1);
  await save(newer);
  await followed.say(hook, alice, 'stepform apply');
  await close(hook);
  await followed.settle();
  expect((await runOf(newer.id)).decision.action).toBe('apply');
});

it('a workspace is released by command, and by checking for the newest commit after a lost delivery', async () => {
  const { workspace, hook } = await saved();
  await followed.say(hook, alice, 'stepform apply');
  await followed.say(hook, alice, 'stepform unlock');
  expect((await shown(workspace)).attributes['applied-pull-request']).toBeNull();
  await change(workspace.id, {
    vcsPull: {
      repository: (await (await import('#resources/workspaces/records.ts')).getWorkspace(workspace.id))?.vcsRepo
        ?.repository,
      number: 7,
    },
  });
  followed.head = sha(2);
  followed.pull = followed.request(10, { state: 'closed' });
  await followed.api.call('POST', `workspaces/${workspace.id}/actions/fetch-latest-from-vcs`);
  await followed.settle();
  expect((await shown(workspace)).attributes['applied-pull-request']).toBeNull();
  expect((await followed.commitsOf(workspace)).at(-1)).toBe(sha(2));
});

it('a workspace is released once, and runs the newest commit, wherever the delivery of the merge is interrupted', async () => {
  const { handler } = await import('#lifecycle/creation/version-control-event.ts');
  const { workspace, hook } = await saved();
  const { aws } = followed.api;
  const { repository } =
    (await (await import('#resources/workspaces/records.ts')).getWorkspace(workspace.id))?.vcsRepo ?? {};
  let done = 0;
  for (let n = 1; n <= 60 && done < 2; n++) {
    followed.toNextSecond();
    followed.head = sha(100 + n);
    await change(workspace.id, { vcsPull: { repository, number: 7, by: 'x', at: 'x' } });
    await close(hook);
    const [next] = aws.invoked.splice(0).filter(({ name }) => name === 'VersionControlEventFunction');
    aws.failCall(n, n % 2 ? 'before' : 'after');
    await handler(next?.event as never).catch(() => {});
    if (aws.pendingFault) done++;
    aws.failCall(0, 'before');
    await handler(next?.event as never);
    aws.invoked.length = 0;
    expect([
      (await followed.commitsOf(workspace)).at(-1),
      (await shown(workspace)).attributes['applied-pull-request'],
    ]).toEqual([sha(100 + n), null]);
  }
  expect(done).toBe(2);
  const commits = await followed.commitsOf(workspace);
  expect(new Set(commits).size).toBe(commits.length);
});
