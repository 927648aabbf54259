import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { related } from '#clients/client/client.ts';
import { startAgent, stopAgents } from '#test/e2e/support/agents.ts';
import {
  client,
  newName,
  organization,
  platform,
  type Resource,
  resources,
  untilConfirmable,
  untilFinal,
} from '#test/e2e/support/world.ts';
import { giteaBinary } from '../gitea/binary.ts';
import { FollowingGitea, vcsMessages } from '../gitea/following.ts';
import type { Gitea } from '../gitea/gitea.ts';

/** From a real push to a real plan, with a real Gitea and the whole platform. */

const binary = giteaBinary();
if (!binary) {
  console.error(
    'Tests against Gitea are skipped: build it once with "node test/version-control/gitea/binary.ts" (Go, some ten minutes).',
  );
}

let gitea: Gitea;
let following: FollowingGitea;
let oauthClient: Resource;

beforeAll(async () => {
  if (!binary) return;
  following = await FollowingGitea.start();
  gitea = following.gitea;
  oauthClient = following.oauthClient;
});
afterAll(async () => {
  stopAgents();
  await gitea?.stop();
});

const follow = (identifier: string, attributes: object = {}, vcs: object = {}) =>
  following.follow(identifier, attributes, vcs);
const runsOf = (workspace: Resource) => following.runsOf(workspace);
const ingressOf = (run: Resource) => following.ingressOf(run);
const runOf = (workspace: Resource, sha: string) => following.runOf(workspace, sha);

describe.skipIf(!binary)('a workspace that follows a repository', () => {
  let identifier: string;
  let workspace: Resource;
  beforeAll(async () => {
    identifier = await gitea.repository(newName('infra'), { 'main.tf': resources(['a']) });
    workspace = await follow(identifier);
  });

  it('runs its first commit and every push, and sets the commits’ statuses', async () => {
    expect(workspace.attributes['vcs-repo']).toMatchObject({
      identifier,
      branch: '',
      'oauth-token-id': related(oauthClient, 'oauth-tokens'),
      'service-provider': 'gitea',
      'webhook-url': expect.stringMatching(/\/webhooks\/vcs\/[0-9a-f-]{36}$/),
    });
    await expect.poll(async () => (await runsOf(workspace)).length).toBe(1);
    const [first] = (await runsOf(workspace)) as [Resource];
    expect((await untilConfirmable(first)).attributes).toMatchObject({
      source: 'tfe-configuration-version',
      message: 'Begin',
    });
    await client.act(first.id, 'discard');
    const message = 'Add b [skip ci]';
    const sha = await gitea.push(identifier, { 'main.tf': resources(['a', 'b']) }, message);
    const run = await untilConfirmable(await runOf(workspace, sha));
    expect(run.attributes).toMatchObject({ message, 'auto-apply': false });
    expect(await ingressOf(run)).toMatchObject({
      'commit-message': message,
      'commit-url': `${gitea.url}/${identifier}/commit/${sha}`,
      'sender-username': gitea.owner.name,
      branch: 'main',
      identifier,
    });
    await expect
      .poll(async () => (await gitea.statuses(identifier, sha))[0])
      .toMatchObject({
        state: 'success',
        description: 'Plan: 2 to add, 0 to change, 0 to destroy',
        target: expect.stringContaining(`/runs/${run.id}`),
      });
    expect((await gitea.statuses(identifier, sha)).at(-1)).toMatchObject({ state: 'pending' });
    await client.act(run.id, 'discard');
  });

  it('plans pull requests speculatively, in one comment, and again for a comment of a linked account', async () => {
    const sha = await gitea.push(identifier, { 'main.tf': resources(['a', 'b', 'c']) }, 'Add c', {
      branch: 'feature',
      from: 'main',
    });
    const number = await gitea.pull(identifier, 'feature', 'Please add c');
    const run = await untilFinal(await runOf(workspace, sha));
    expect(run.attributes).toMatchObject({ status: 'planned_and_finished', 'plan-only': true, message: 'Add c' });
    expect(await ingressOf(run)).toMatchObject({
      'is-pull-request': true,
      'pull-request-number': number,
      'pull-request-title': 'Please add c',
      branch: 'feature',
      'sender-username': 'tester',
    });
    await expect
      .poll(async () => (await gitea.statuses(identifier, sha))[0]?.description)
      .toBe('Plan: 3 to add, 0 to change, 0 to destroy');
    const ours = async () => {
      const all = await gitea.call('GET', `/repos/${identifier}/issues/${number}/comments`);
      return all.map(({ body }: { body: string }) => body).filter((body: string) => body.startsWith('<!-- stepform'));
    };
    await expect.poll(ours).toEqual([expect.stringContaining('3 to add, 0 to change')]);
    const say = (body: string) => gitea.call('POST', `/repos/${identifier}/issues/${number}/comments`, { body });
    const link = `/oauth-clients/${oauthClient.id}/account-link`;
    await say('stepform plan');
    // Deliveries can overtake each other: once the account is linked, the comment would start a run.
    await expect.poll(vcsMessages).toContain(`#${number} of ${identifier}, has not linked an account`);
    const { data } = await client.call('POST', link, { data: { attributes: { username: gitea.owner.name } } });
    await say(data.attributes.comment);
    await expect
      .poll(async () => (await client.call('GET', link).catch(() => undefined))?.data.attributes.username)
      .toBe(gitea.owner.name);
    const plans = async () => (await runsOf(workspace)).filter(({ attributes }) => attributes['plan-only']);
    expect(await plans()).toHaveLength(1);
    await say('stepform plan');
    await expect.poll(async () => (await plans()).length).toBe(2);
    await untilFinal((await plans())[0] as Resource);
    expect(await ours()).toHaveLength(1);
  });

  it('never plans pull requests of forks', async () => {
    const mallory = await gitea.newUser(newName('m').slice(0, 30));
    await gitea.call('PUT', `/repos/${identifier}/collaborators/${mallory.name}`, { permission: 'read' });
    await gitea.call('POST', `/repos/${identifier}/forks`, {}, mallory);
    const fork = `${mallory.name}/${identifier.split('/')[1]}`;
    const evil = await gitea.push(fork, { 'main.tf': resources(['evil']) }, 'Evil', {
      branch: 'evil',
      from: 'main',
      as: mallory,
    });
    await gitea.pull(identifier, `${mallory.name}:evil`, 'Take this', mallory);
    await expect.poll(vcsMessages).toContain(`of ${identifier} comes from a fork`);
    expect(await gitea.statuses(identifier, evil)).toEqual([]);
  });

  it('applies a pull request before its merge, and runs the merge afterwards', async () => {
    const before = (await runsOf(workspace)).length;
    const attributes = { 'apply-before-merge-enabled': true };
    await client.call('PATCH', `/workspaces/${workspace.id}`, { data: { type: 'workspaces', attributes } });
    const branch = { branch: 'saved', from: 'main' };
    const sha = await gitea.push(identifier, { 'main.tf': resources(['a', 'd']) }, 'Add d', branch);
    const number = await gitea.pull(identifier, 'saved', 'Please add d');
    const run = await runOf(workspace, sha);
    const statusOf = async ({ id }: Resource) => (await client.get(`/runs/${id}`)).attributes.status;
    await expect.poll(() => statusOf(run)).toBe('planned_and_saved');
    const say = (body: string) => gitea.call('POST', `/repos/${identifier}/issues/${number}/comments`, { body });
    const link = `/oauth-clients/${oauthClient.id}/account-link`;
    const { data } = await client.call('POST', link, { data: { attributes: { username: gitea.owner.name } } });
    await say(data.attributes.comment);
    await expect
      .poll(() =>
        client.call('GET', link).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    await say('stepform apply');
    await expect.poll(() => statusOf(run)).toBe('applied');
    const held = async () => (await client.get(`/workspaces/${workspace.id}`)).attributes['applied-pull-request'];
    expect(await held()).toBe(number);
    await gitea.merge(identifier, number);
    await expect.poll(held).toBeNull();
    await expect.poll(async () => (await runsOf(workspace)).length).toBe(before + 2);
    const [merged] = (await runsOf(workspace)) as [Resource];
    expect((await untilFinal(merged)).attributes).toMatchObject({
      status: 'planned_and_finished',
      'has-changes': false,
    });
  });
});

it.skipIf(!binary || !platform.dataDir)('the token of a connection is in no log', () => {
  const logs = join(platform.dataDir ?? '', 'logs');
  const all = readdirSync(logs, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const telling = all.filter(({ parentPath, name }) =>
    readFileSync(join(parentPath, name)).includes(gitea.owner.token),
  );
  expect([all.length > 0, telling.map(({ name }) => name)]).toEqual([true, []]);
});

describe.skipIf(!binary)('a forge that only an agent can reach', () => {
  it('gets pushes planned and applied, and their status set', async () => {
    const name = newName('forward');
    const pool = await client.create(`/organizations/${organization}/agent-pools`, 'agent-pools', { name });
    const tokens = `/agent-pools/${pool.id}/authentication-tokens`;
    const token = await client.create(tokens, 'authentication-tokens', { description: 'e2e' });
    const { output } = startAgent(name, token.attributes.token, ['--forward-to', gitea.url]);
    await expect.poll(() => output.text).toContain('forwards requests to');
    const attributes = {
      name,
      'service-provider': 'gitea',
      'http-url': gitea.url,
      'api-url': `${gitea.url}/api/v1`,
      'oauth-token-string': gitea.owner.token,
    };
    const by = await client.create(`/organizations/${organization}/oauth-clients`, 'oauth-clients', attributes, {
      'agent-pool': { data: { type: 'agent-pools', id: pool.id } },
    });
    // The first run has nothing to apply.
    const identifier = await gitea.repository(newName('private'), { 'main.tf': '' });
    const workspace = await following.follow(identifier, { 'auto-apply': true }, {}, { by });
    await expect.poll(async () => (await following.runsOf(workspace)).length).toBe(1);
    const sha = await gitea.push(identifier, { 'main.tf': resources(['a', 'b']) }, 'Through an agent');
    const run = await following.runOf(workspace, sha);
    expect((await untilFinal(run)).attributes.status).toBe('applied');
    await expect
      .poll(async () => (await gitea.statuses(identifier, sha)).map(({ state }) => state))
      .toContain('success');
    for (const what of [`/archive/${sha}.tar.gz: 200`, `/statuses/${sha}: 201`, '/hooks: 201']) {
      expect(output.text).toContain(what);
    }
    expect(output.text).not.toContain(gitea.owner.token);
  });
});
