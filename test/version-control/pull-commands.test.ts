import { beforeEach, describe, expect, it } from 'vitest';
import { memberHelpers } from '#test/support/members.ts';
import { commandOf } from '#version-control/commands.ts';
import { Followed, type Json } from './support/followed.ts';

/** Commands in comments on pull requests, and their permissions. */

const followed = await Followed.start();
beforeEach(() => followed.reset());

const alice = { id: 41, login: 'alice' };
const mallory = { id: 66, login: 'mallory' };

/** Requests a link for a user who claims the account. @returns the comment to post */
const requestLink = async (client: Json, username: string, token?: string): Promise<string> => {
  const body = { data: { attributes: { username } } };
  const answer = await followed.api.call('POST', `oauth-clients/${client.id}/account-link`, { body, token });
  expect(answer.status).toBe(201);
  return answer.body.data.attributes.comment;
};
const linked = async (client: Json, token?: string): Promise<string | undefined> =>
  (await followed.api.get(`oauth-clients/${client.id}/account-link`, { token })).body.data?.attributes.username;

/** An open pull request with a plan, and alice as the owner. */
const planned = async (attributes: object = {}) => {
  const connected = await followed.connect(attributes);
  followed.pull = followed.request(10);
  await followed.deliver(connected.hook, 'pull_request', { action: 'opened', number: 7 });
  await followed.settle();
  await followed.say(connected.hook, alice, await requestLink(connected.client, 'alice'));
  return connected;
};
const plansOf = async (workspace: Json): Promise<Json[]> =>
  (await followed.runsOf(workspace)).filter(({ planOnly }) => planOnly);

it.each([
  ['stepform plan', { verb: 'plan' }],
  ['  stepform plan  app-prod\n', { verb: 'plan', argument: 'app-prod' }],
  ['stepform link abc_-1', { verb: 'link', argument: 'abc_-1' }],
  ['> stepform plan', undefined],
  ['Please do not\nstepform plan', undefined],
  ['stepform plan a b', undefined],
  ['stepform apply', { verb: 'apply' }],
  ['stepform destroy', undefined],
  ['stepform plan $(rm)', undefined],
])('the comment %j is parsed', (body, command) => {
  expect(commandOf(body)).toEqual(command);
});

describe('an account', () => {
  it('is linked by a comment of that account with the code, once', async () => {
    const { client, hook } = await followed.connect();
    followed.pull = followed.request(10);
    const words = await requestLink(client, 'alice');
    expect(await linked(client)).toBeUndefined();
    await followed.say(hook, alice, words);
    expect(await linked(client)).toBe('alice');
    expect((await followed.api.call('DELETE', `oauth-clients/${client.id}/account-link`)).status).toBe(204);
    await followed.say(hook, alice, words);
    expect(await linked(client)).toBeUndefined();
    expect((await followed.messages())[0]).toContain('was used before, has expired, or belongs to another account');
  });

  it('stays linked while it is linked again', async () => {
    const { client, hook } = await planned();
    const words = await requestLink(client, 'alice');
    const seen = new Set<string | undefined>();
    let isLooking = false;
    followed.api.aws.gate = async () => {
      if (isLooking) return;
      isLooking = true;
      seen.add(await linked(client));
      isLooking = false;
    };
    await followed.say(hook, alice, words);
    followed.api.aws.gate = undefined;
    expect([...seen]).toEqual(['alice']);
  });

  it('is not linked by another account that repeats the code, or by another connection', async () => {
    const { client, hook } = await followed.connect();
    const words = await requestLink(client, 'alice');
    await followed.say(hook, mallory, words);
    expect(await linked(client)).toBeUndefined();
    const other = await followed.connection();
    await followed.say(hook, alice, await requestLink(other.client, 'alice'));
    expect([await linked(client), await linked(other.client)]).toEqual([undefined, undefined]);
  });

  it('is unique per user, and a user per account', async () => {
    const { withFlags } = await memberHelpers();
    const { token } = await withFlags('acme');
    const { client, hook } = await followed.connect();
    await followed.say(hook, alice, await requestLink(client, 'alice'));
    await followed.say(hook, { id: 42, login: 'alice2' }, await requestLink(client, 'alice2'));
    expect(await linked(client)).toBe('alice2');
    await followed.say(hook, { id: 42, login: 'alice2' }, await requestLink(client, 'alice2', token));
    expect([await linked(client), await linked(client, token)]).toEqual([undefined, 'alice2']);
  });
});

describe('stepform plan', () => {
  it('plans the newest commit again, once per comment, as the user who commented', async () => {
    const since = new Date(Date.now() - 1000).toISOString();
    const { workspace, hook } = await planned();
    await followed.say(hook, alice, 'stepform plan');
    await followed.deliverComment(hook, followed.comments.at(-1));
    const plans = await plansOf(workspace);
    expect(plans).toHaveLength(2);
    expect(plans[1]).toMatchObject({
      createdBy: followed.api.userId,
      ingress: { commitSha: plans[0].ingress.commitSha },
    });
    expect(plans[0].cancel?.by).toBe('vcs');
    const { body } = await followed.api.get(`organization/audit-trail?since=${since}&page[size]=100`);
    const traces = body.data.filter(({ resource }: Json) => resource.id === `${followed.identifier}#7`);
    expect(traces.map(({ resource }: Json) => resource.action).sort()).toEqual(['link_by_comment', 'plan_by_comment']);
  });

  it('plans only the workspace that it names', async () => {
    const { workspace, hook, token } = await planned();
    const second = (await followed.follow(token)).workspace;
    await followed.deliver(hook, 'pull_request', { action: 'reopened', number: 7 });
    await followed.settle();
    await followed.say(hook, alice, `stepform plan ${second.attributes.name}`);
    expect([(await plansOf(workspace)).length, (await plansOf(second)).length]).toEqual([1, 2]);
  });

  it.each([
    ['of a stranger', mallory, {}, 'has not linked an account'],
    ['that was edited', alice, { updated_at: '2030-01-01T00:00:00Z' }, 'was edited'],
    ['on another pull request than the delivery says', alice, { issue_url: 'https://x/issues/8' }, 'was deleted'],
  ])('ignores a comment %s', async (_, user, change, words) => {
    const { workspace, hook } = await planned();
    await followed.say(hook, user, 'stepform plan', change);
    expect(await plansOf(workspace)).toHaveLength(1);
    expect((await followed.messages())[0]).toContain(words);
  });

  it('does nothing for a forged delivery of a missing comment or another author', async () => {
    const { workspace, hook } = await planned();
    await followed.deliverComment(hook, { id: 12345, body: 'stepform plan', user: alice });
    followed.comments.push({
      id: 950,
      body: 'Looks good',
      user: alice,
      created_at: 'x',
      updated_at: 'x',
      issue_url: 'https://x/issues/7',
    });
    await followed.deliverComment(hook, { id: 950, body: 'stepform plan', user: alice });
    expect(await plansOf(workspace)).toHaveLength(1);
  });

  it('does nothing on a pull request from a fork, or a closed one', async () => {
    const { workspace, hook } = await planned();
    followed.pull = followed.request(10, { head: { sha: 'a'.repeat(40), ref: 'f', repo: { id: 1 } } });
    await followed.say(hook, alice, 'stepform plan');
    expect((await followed.messages())[0]).toContain('comes from a fork');
    followed.pull = followed.request(10, { state: 'closed' });
    await followed.say(hook, alice, 'stepform plan');
    expect(await plansOf(workspace)).toHaveLength(1);
  });

  it('does nothing for a user without permission to plan', async () => {
    const { workspace, client, hook } = await planned();
    const { withFlags } = await memberHelpers();
    const { token } = await withFlags('acme');
    const bob = { id: 43, login: 'bob' };
    await followed.say(hook, bob, await requestLink(client, 'bob', token));
    expect(await linked(client, token)).toBe('bob');
    await followed.say(hook, bob, 'stepform plan');
    expect(await plansOf(workspace)).toHaveLength(1);
    expect((await followed.messages())[0]).toContain('affects no workspace of that name in which bob may plan');
  });
});
