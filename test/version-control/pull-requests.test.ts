import { beforeEach, describe, expect, it } from 'vitest';
import { Followed, type Json, sha } from './support/followed.ts';

/** The current commit of a pull request, and the comment about its plans. */

const followed = await Followed.start();
beforeEach(() => followed.reset());

const open = async (hook: string, n: number, action = 'opened', change: object = {}): Promise<void> => {
  followed.pull = followed.request(n, change);
  await followed.deliver(hook, 'pull_request', { action, number: 7 });
  await followed.settle();
};
const plansOf = async (workspace: Json): Promise<Json[]> =>
  (await followed.runsOf(workspace)).filter(({ planOnly }) => planOnly);
const statusOf = async (runId: string): Promise<void> => {
  const { handler } = await import('#version-control/commit-status.ts');
  await handler({ runId });
};
const setRun = async (id: string, set: object): Promise<void> => {
  const { update } = await import('#platform/store/table.ts');
  const { keys } = await import('#platform/store/keys.ts');
  await update(keys.run(id), { set: set as Record<string, unknown> });
};
const planned = (additions: number) => ({
  status: 'planned_and_finished',
  'plan.status': 'finished',
  'plan.report': {
    outcome: 'finished',
    hasChanges: true,
    counts: { additions, changes: 0, destructions: 0 },
  },
});

describe('deliveries of a pull request', () => {
  it('that are handled concurrently end with one plan of the newest commit', async () => {
    const { workspace, hook } = await followed.connect();
    const { handler } = await import('#lifecycle/creation/version-control-event.ts');
    followed.pull = followed.request(10);
    await followed.deliver(hook, 'pull_request', { action: 'opened', number: 7 });
    await followed.deliver(hook, 'pull_request', { action: 'synchronize', number: 7 });
    const events = followed.api.aws.invoked.splice(0).filter(({ name }) => name === 'VersionControlEventFunction');
    // The forge answers the first request late, with the older commit.
    let asked = 0;
    followed.forge.on('GET', /\/pulls\/7$/, () => ({ body: followed.request(asked++ === 0 ? 10 : 11) }));
    await Promise.all(events.map(({ event }) => handler(event as never)));
    const going = (await plansOf(workspace)).filter(({ cancel }) => !cancel);
    expect(going.map(({ ingress }) => ingress.commitSha)).toEqual([sha(11)]);
  });

  it('that are interrupted at any call are completed when handled again', async () => {
    const { handler } = await import('#lifecycle/creation/version-control-event.ts');
    const { workspace, hook } = await followed.connect();
    const { aws } = followed.api;
    let done = 0;
    for (let n = 1; n <= 60 && done < 2; n++) {
      followed.toNextSecond();
      followed.pull = followed.request(n);
      // At the maximum number of deliveries per second.
      const deliver = () => followed.deliver(hook, 'pull_request', { action: 'synchronize', number: 7 });
      await expect.poll(async () => (await deliver()).status).toBe(202);
      const [next] = aws.invoked.splice(0).filter(({ name }) => name === 'VersionControlEventFunction');
      aws.failCall(n, n % 2 ? 'before' : 'after');
      await handler(next?.event as never).catch(() => {});
      if (aws.pendingFault) done++;
      aws.failCall(0, 'before');
      await handler(next?.event as never);
      aws.invoked.length = 0;
      const plans = await plansOf(workspace);
      expect(plans.filter(({ cancel }) => !cancel).map(({ ingress }) => ingress.commitSha)).toEqual([sha(n)]);
    }
    expect(done).toBe(2);
  });
});

describe('the comment', () => {
  it('is a single one that shows the plans of the newest commit, with costs and policies', async () => {
    const { workspace, hook } = await followed.connect();
    await open(hook, 10);
    const [run] = await plansOf(workspace);
    await statusOf(run.id);
    expect(followed.comments.map(({ body }) => body)).toEqual([expect.stringContaining('| Running |')]);
    await setRun(run.id, {
      ...planned(2),
      costEstimate: { status: 'finished', deltaMonthlyCost: '12.4', proposedMonthlyCost: '100.0' },
      checks: { policyEvaluation: true },
      verdicts: { policyEvaluation: 'passed' },
    });
    await statusOf(run.id);
    const { name } = workspace.attributes;
    expect(followed.comments.map(({ body }) => body)).toEqual([
      [
        '<!-- stepform:acme -->',
        `**acme**: plans of \`${sha(10).slice(0, 7)}\``,
        '',
        '| Workspace | Plan | Cost | Policies |',
        '| --- | --- | --- | --- |',
        `| [\`${name}\`](https://stepform.example/app/acme/workspaces/${name}/runs/${run.id}) | 2 to add, 0 to change, 0 to destroy | +$12.40 ($100.00 a month) | passed |`,
      ].join('\n'),
    ]);
    await open(hook, 11, 'synchronize');
    const newer = (await plansOf(workspace)).at(-1);
    await statusOf(newer.id);
    await statusOf(run.id);
    expect(followed.comments).toHaveLength(1);
    expect(followed.comments[0].body).toContain(sha(11).slice(0, 7));
  });

  it('has a line for each workspace, failed ones first', async () => {
    const { workspace, hook, token } = await followed.connect();
    const second = (await followed.follow(token)).workspace;
    await open(hook, 10);
    const [[first], [other]] = await Promise.all([plansOf(workspace), plansOf(second)]);
    await setRun(first.id, planned(1));
    const at = new Date().toISOString();
    await setRun(other.id, { status: 'errored', 'plan.status': 'errored', 'statusTimestamps.planning-at': at });
    await statusOf(first.id);
    const lines = followed.comments[0].body.split('\n').slice(5);
    expect(lines[0]).toContain(`\`${second.attributes.name}\``);
    expect(lines[0]).toContain('Plan failed');
    expect(lines[1]).toContain('1 to add');
    expect(followed.comments).toHaveLength(1);
  });

  it('is found again after a crash of its writer, never confused with another user’s', async () => {
    const { workspace, hook } = await followed.connect();
    const body = '<!-- stepform:acme --> forged';
    followed.comments.push({ id: 1, body, user: { id: 666, login: 'mallory' } });
    followed.comments.push({ id: 2, body: '<!-- stepform:acme -->\nours', user: { id: 7, login: 'octocat' } });
    await open(hook, 10);
    const [run] = await plansOf(workspace);
    await statusOf(run.id);
    expect(followed.comments.map((one) => one.body)).toEqual([body, expect.stringContaining('Running')]);
  });

  it('is created again after its deletion', async () => {
    const { workspace, hook } = await followed.connect();
    await open(hook, 10);
    const [run] = await plansOf(workspace);
    await statusOf(run.id);
    followed.comments.length = 0;
    await setRun(run.id, planned(1));
    await statusOf(run.id);
    expect(followed.comments.map((one) => one.body)).toEqual([expect.stringContaining('1 to add')]);
  });

  it('is not created when the organization has disabled comments, or the forge refuses', async () => {
    const { workspace, hook } = await followed.connect();
    await open(hook, 10);
    const [run] = await plansOf(workspace);
    await followed.api.patch('organizations/acme', { 'pull-request-comments-enabled': false });
    await statusOf(run.id);
    expect(followed.comments).toEqual([]);
    await followed.api.patch('organizations/acme', { 'pull-request-comments-enabled': true });
    followed.forge.on('POST', /\/comments$/, { status: 403, body: { message: 'Resource not accessible' } });
    await setRun(run.id, planned(1));
    await statusOf(run.id);
    expect((await followed.messages())[0]).toContain('could not be shown on pull request #7');
    expect(followed.forge.asked('POST', /\/statuses\//).at(-1)?.body.state).toBe('success');
    await setRun(run.id, planned(2));
    await statusOf(run.id);
    expect(followed.forge.asked('POST', /\/comments$/)).toHaveLength(1);
  });
});
