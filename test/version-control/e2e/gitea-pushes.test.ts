import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '#test/e2e/support/waiting.ts';
import { client, newName, organization, type Resource, resources } from '#test/e2e/support/world.ts';
import { giteaBinary } from '../gitea/binary.ts';
import { FollowingGitea } from '../gitea/following.ts';

/** Pushes other than one new commit, with a real Gitea and its real payloads. */

const binary = giteaBinary();
let following: FollowingGitea;
/** Settings of a pool without agents: the tests only check which runs are created. */
let waiting: object;
beforeAll(async () => {
  if (!binary) return;
  following = await FollowingGitea.start();
  const name = newName('idle');
  const pool = await client.create(`/organizations/${organization}/agent-pools`, 'agent-pools', { name });
  waiting = { 'execution-mode': 'agent', 'agent-pool-id': pool.id };
});
afterAll(() => following?.gitea.stop());

const write = (folder: string, path: string, text: string): void => {
  mkdirSync(join(folder, path, '..'), { recursive: true });
  writeFileSync(join(folder, path), text);
};

const files = { 'main.tf': resources(['a']), 'a/main.tf': resources(['a']), 'b/main.tf': resources(['b']) };

/** A workspace with its first run. */
const follow = async (identifier: string, attributes: object = {}, vcs: object = {}): Promise<Resource> => {
  const workspace = await following.follow(identifier, { ...waiting, ...attributes }, vcs);
  await until(
    () => following.runsOf(workspace),
    (runs) => runs.length === 1,
  );
  return workspace;
};

/** A repository, and a workspace with its first run. */
const followed = async (attributes: object = {}, vcs: object = {}): Promise<[string, Resource]> => {
  const identifier = await following.gitea.repository(newName('pushes'), files);
  return [identifier, await follow(identifier, attributes, vcs)];
};

/** Head of the branch main. */
const headOf = async (identifier: string): Promise<string> =>
  (await following.gitea.call('GET', `/repos/${identifier}/branches/main`)).commit.id;

describe.skipIf(!binary)('a push', () => {
  /** A repository with a workspace for each folder: the third does not exist. */
  let identifier: string;
  let a: Resource;
  let b: Resource;
  let c: Resource;
  beforeAll(async () => {
    [identifier, a] = await followed({ 'working-directory': 'a' });
    b = await follow(identifier, { 'working-directory': 'b' });
    c = await follow(identifier, { 'working-directory': 'c' });
  });

  it('starts runs only in workspaces that its files concern', async () => {
    const sha = await following.gitea.push(identifier, { 'b/main.tf': resources(['b', 'b2']) }, 'Only b');
    await following.runOf(b, sha);
    expect(await following.runsOf(a)).toHaveLength(1);
  });

  it('of eight commits starts workspaces that only the oldest one concerns, although the payload omits it', async () => {
    const sha = await following.inClone(identifier, async (git, folder) => {
      write(folder, 'a/main.tf', resources(['a', 'a2']));
      await git('add', '.');
      await git('commit', '-m', 'Touches a');
      for (let n = 1; n <= 7; n++) {
        write(folder, 'b/main.tf', `# ${n}`);
        await git('add', '.');
        await git('commit', '-m', `Touches b ${n}`);
      }
      await git('push', '--quiet');
      return git('rev-parse', 'HEAD');
    });
    await following.runOf(a, sha);
    expect(await following.runsOf(c)).toHaveLength(1);
  });

  it('that resets the branch to an older commit runs that commit, wherever its files are', async () => {
    const before = await following.commitsOf(c);
    const first = await headOf(identifier);
    const second = await following.gitea.push(identifier, { 'a/main.tf': resources(['a', 'b']) }, 'Second');
    await following.runOf(a, second);
    await following.inClone(identifier, (git) =>
      git('push', '--quiet', '--force', 'origin', `${first}:refs/heads/main`),
    );
    await expect.poll(async () => (await following.commitsOf(a)).slice(0, 2)).toEqual([first, second]);
    await expect.poll(() => following.commitsOf(c)).toEqual([first, ...before]);
  });

  it('after one whose delivery was lost runs the newest commit, in workspaces that either one concerns', async () => {
    const [hook] = await following.gitea.call('GET', `/repos/${identifier}/hooks`);
    const active = (on: boolean) =>
      following.gitea.call('PATCH', `/repos/${identifier}/hooks/${hook.id}`, { active: on, events: hook.events });
    // A webhook of the test signals when Gitea has processed the lost push: Gitea delivers late, the previous push
    // too.
    const told: string[] = [];
    const server = createServer(async (request, response) => {
      const { after } = (await json(request)) as { after: string };
      told.push(after);
      response.end();
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const config = { url, content_type: 'json' };
    const mine = { type: 'gitea', active: true, events: ['push'], config };
    const { id } = await following.gitea.call('POST', `/repos/${identifier}/hooks`, mine);
    await active(false);
    const lost = await following.gitea.push(
      identifier,
      { 'a/main.tf': resources(['a', 'lost']) },
      'Its delivery is lost',
    );
    await expect.poll(() => told).toContain(lost);
    server.close();
    await following.gitea.call('DELETE', `/repos/${identifier}/hooks/${id}`);
    await active(true);
    const newest = await following.gitea.push(identifier, { 'b/main.tf': '# b' }, 'Touches b');
    await following.runOf(a, newest);
    expect(await following.commitsOf(a)).not.toContain(lost);
  });

  it('of tags, lightweight and annotated, runs their commit; deleted tags and branches run nothing', async () => {
    const workspace = await follow(identifier, {}, { 'tags-regex': 'release-\\d+' });
    const { tags, pushed } = await following.inClone(identifier, async (git, folder) => {
      const commits: string[] = [];
      for (const n of [1, 2]) {
        write(folder, 'main.tf', resources(['a', `tag${n}`]));
        await git('commit', '--all', '-m', `For tag ${n}`);
        await git('push', '--quiet');
        commits.push(await git('rev-parse', 'HEAD'));
      }
      const [one = '', two = ''] = commits;
      await git('tag', 'v-release-1', one);
      await git('push', '--quiet', 'origin', 'v-release-1');
      await following.runOf(workspace, one);
      await git('tag', '--annotate', '-m', 'Two', 'release-2', two);
      await git('tag', 'other', one);
      await git('push', '--quiet', 'origin', 'other');
      await git('push', '--quiet', 'origin', 'release-2');
      await following.runOf(workspace, two);
      await git('push', '--quiet', 'origin', ':refs/tags/release-2');
      return { tags: [two, one], pushed: commits };
    });
    expect(pushed).toHaveLength(2);
    expect((await following.commitsOf(workspace)).slice(0, -1)).toEqual(tags);
  });

  it('that recreates a deleted branch runs it', async () => {
    await following.gitea.push(identifier, { 'main.tf': resources(['x']) }, 'On a branch', {
      branch: 'side',
      from: 'main',
    });
    const workspace = await follow(identifier, {}, { branch: 'side' });
    const sha = await following.inClone(identifier, async (git, folder) => {
      await git('push', '--quiet', 'origin', ':refs/heads/side');
      write(folder, 'main.tf', resources(['again']));
      await git('commit', '--all', '-m', 'Again');
      await git('push', '--quiet', 'origin', 'HEAD:refs/heads/side');
      return git('rev-parse', 'HEAD');
    });
    await following.runOf(workspace, sha);
    const { attributes } = await client.get(`/workspaces/${workspace.id}`);
    expect(attributes['vcs-repo'].branch).toBe('side');
  });

  it('is accepted after the secret was rotated, which requires another webhook at this forge', async () => {
    const base = `/oauth-clients/${following.oauthClient.id}/repositories`;
    const repositories = await client.list(base);
    const id = repositories.find(({ attributes }) => attributes.identifier === identifier)?.id;
    for (let n = 1; n <= 2; n++) {
      // A secret that was valid before the first rotation is not valid after the second.
      await client.call('POST', `${base}/${id}/actions/rotate-secret`, {});
    }
    expect(await following.gitea.call('GET', `/repos/${identifier}/hooks`)).toHaveLength(1);
    const sha = await following.gitea.push(
      identifier,
      { 'a/main.tf': resources(['a', 'rotated']) },
      'After the rotation',
    );
    await following.runOf(a, sha);
  });
});

describe.skipIf(!binary)('a pull request', () => {
  it('is planned for its newest commit and its base alone, until it is merged', async () => {
    const { gitea } = following;
    const [identifier, onMain] = await followed();
    const at = `/repos/${identifier}`;
    await gitea.call('POST', `${at}/branches`, { new_branch_name: 'release', old_branch_name: 'main' });
    const onRelease = await follow(identifier, {}, { branch: 'release' });
    /** Commits of plans, newest first, and whether each is in progress. */
    const plansOf = async (workspace: Resource): Promise<[string, boolean][]> => {
      const plans = (await following.runsOf(workspace)).filter(({ attributes }) => attributes['plan-only']);
      const commits = plans.map(async (run) => (await following.ingressOf(run))['commit-sha']);
      return (await Promise.all(commits)).map((sha, i) => [sha, plans[i]?.attributes.status !== 'canceled']);
    };
    const untilPlans = (workspace: Resource, plans: [string, boolean][]) =>
      expect.poll(() => plansOf(workspace)).toEqual(plans);
    const change = (n: number) => ({ 'main.tf': resources(['a', `change${n}`]) });
    const first = await gitea.push(identifier, change(1), 'First', { branch: 'feature', from: 'main' });
    const number = await gitea.pull(identifier, 'feature', 'Please');
    await untilPlans(onMain, [[first, true]]);
    const second = await gitea.push(identifier, change(2), 'Second', { branch: 'feature' });
    await untilPlans(onMain, [
      [second, true],
      [first, false],
    ]);
    const forced = await following.inClone(identifier, async (git) => {
      await git('checkout', '--quiet', 'feature');
      await git('reset', '--quiet', '--soft', 'HEAD~2');
      await git('commit', '-m', 'Both in one');
      await git('push', '--quiet', '--force', 'origin', 'feature');
      return git('rev-parse', 'HEAD');
    });
    await untilPlans(onMain, [
      [forced, true],
      [second, false],
      [first, false],
    ]);
    await gitea.call('PATCH', `${at}/pulls/${number}`, { base: 'release' });
    await untilPlans(onRelease, [[forced, true]]);
    await untilPlans(onMain, [
      [forced, false],
      [second, false],
      [first, false],
    ]);
    await gitea.call('PATCH', `${at}/pulls/${number}`, { state: 'closed' });
    const meanwhile = await gitea.push(identifier, change(3), 'While it is closed', { branch: 'feature' });
    await gitea.call('PATCH', `${at}/pulls/${number}`, { state: 'open' });
    await untilPlans(onRelease, [
      [meanwhile, true],
      [forced, false],
    ]);
    const stateOf = async (sha: string) => (await gitea.statuses(identifier, sha))[0]?.state;
    await expect
      .poll(() => Promise.all([first, second, forced, meanwhile].map(stateOf)))
      .toEqual(['error', 'error', 'error', 'pending']);
    await gitea.merge(identifier, number);
    const merged = (await gitea.call('GET', `${at}/branches/release`)).commit.id;
    expect((await following.runOf(onRelease, merged)).attributes['plan-only']).toBe(false);
    expect((await following.runsOf(onMain)).length).toBe(4);
  });
});
