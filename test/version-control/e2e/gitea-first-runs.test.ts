import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { related } from '#clients/client/client.ts';
import {
  client,
  newName,
  organization,
  type Resource,
  resources,
  untilConfirmable,
  untilFinal,
} from '#test/e2e/support/world.ts';
import { policyFiles } from '#test/support/policies.ts';
import { giteaBinary } from '../gitea/binary.ts';
import { bringForward, expireArchive } from '../gitea/bring-forward.ts';
import { FollowingGitea, vcsMessages } from '../gitea/following.ts';
import type { Gitea } from '../gitea/gitea.ts';
import { ForgeProxy } from '../gitea/proxy.ts';

/** Which commits become a workspace's configuration or a policy set's version, with a real Gitea. */

const binary = giteaBinary();
let following: FollowingGitea;
let gitea: Gitea;
let proxy: ForgeProxy;
beforeAll(async () => {
  if (!binary) return;
  following = await FollowingGitea.start(async (url) => {
    proxy = await ForgeProxy.start(url);
    return proxy.url;
  });
  gitea = following.gitea;
});
afterAll(async () => {
  proxy?.close();
  await gitea?.stop();
});
beforeEach(() => {
  if (proxy) proxy.refuse = () => undefined;
});

const headOf = async (identifier: string): Promise<string> =>
  (await gitea.call('GET', `/repos/${identifier}/branches/main`)).commit.id;

/** The commit of the current configuration, and its status. */
const currentOf = async ({ id }: Resource): Promise<[string, string] | undefined> => {
  const version = related(await client.get(`/workspaces/${id}`), 'current-configuration-version');
  if (!version) return undefined;
  const { attributes } = await client.get(`/configuration-versions/${version}`);
  const ingress = await client.get(`/configuration-versions/${version}/ingress-attributes`);
  return [ingress.attributes['commit-sha'], attributes.status];
};
const untilCurrent = (workspace: Resource, sha: string, status = 'uploaded') =>
  expect.poll(() => currentOf(workspace)).toEqual([sha, status]);

const start = (workspace: Resource) => client.createRun(workspace.id, {});

describe.skipIf(!binary)('a workspace without queue-all-runs', () => {
  it('keeps the newest commit, and plans pushes and pull requests once a user has started a run of it', async () => {
    const identifier = await gitea.repository(newName('first'), { 'main.tf': resources(['a']) });
    const workspace = await following.follow(identifier, { 'queue-all-runs': false });
    await untilCurrent(workspace, await headOf(identifier));
    const sha = await gitea.push(identifier, { 'main.tf': resources(['a', 'b']) }, 'Second');
    await untilCurrent(workspace, sha);
    const branch = { branch: 'early', from: 'main' };
    await gitea.push(identifier, { 'main.tf': resources(['early']) }, 'Early', branch);
    const early = await gitea.pull(identifier, 'early', 'Too early');
    await expect.poll(vcsMessages).toContain(`pull request #${early} of ${identifier}`);
    expect(await following.runsOf(workspace)).toEqual([]);
    const run = await untilConfirmable(await start(workspace));
    expect([(await following.ingressOf(run))['commit-sha'], run.attributes['plan-only']]).toEqual([sha, false]);
    const third = await gitea.push(identifier, { 'main.tf': resources(['a']) }, 'Third');
    expect((await following.runOf(workspace, third)).attributes.source).toBe('tfe-configuration-version');
  });

  it('fetches a commit again for a run after the first attempts failed, and after its archive has expired', async () => {
    const identifier = await gitea.repository(newName('refused'), { 'main.tf': resources(['a']) });
    const workspace = await following.follow(identifier, { 'queue-all-runs': false });
    const plan = async () => untilFinal(await client.createRun(workspace.id, { 'plan-only': true }));
    await untilCurrent(workspace, await headOf(identifier));
    proxy.refuse = (path) => (path.includes('/archive/') ? 403 : undefined);
    const sha = await gitea.push(identifier, { 'main.tf': resources(['a', 'b']) }, 'Second');
    await untilCurrent(workspace, sha, 'errored');
    proxy.refuse = () => undefined;
    const expectPlanned = async (run: Resource) =>
      expect([(await following.ingressOf(run))['commit-sha'], run.attributes.status]).toEqual([
        sha,
        'planned_and_finished',
      ]);
    await expectPlanned(await plan());
    await untilCurrent(workspace, sha);
    const version = related(await client.get(`/workspaces/${workspace.id}`), 'current-configuration-version');
    await expireArchive(String(version));
    const run = await plan();
    await expectPlanned(run);
    expect(related(run, 'configuration-version')).toBe(version);
  });
});

describe.skipIf(!binary)('a policy set', () => {
  const inFolder = (rule: string) =>
    Object.fromEntries(Object.entries(policyFiles(rule)).map(([name, text]) => [`policies/net/${name}`, text]));
  const versionsOf = async ({ id }: Resource): Promise<[string, string][]> => {
    const { data } = await client.call<Resource[]>('GET', `/policy-sets/${id}/versions`);
    return data.map(({ attributes }) => [attributes['ingress-attributes']['commit-sha'], attributes.status]);
  };
  const currentVersion = async ({ id }: Resource): Promise<string> => {
    const version = related(await client.get(`/policy-sets/${id}`), 'current-version');
    const { attributes } = await client.get(`/policy-set-versions/${version}`);
    return attributes['ingress-attributes']['commit-sha'];
  };

  it('has a version of each commit below its path, and keeps the last readable one', async () => {
    const identifier = await gitea.repository(newName('policies'), inFolder('deny := []'));
    const first = await headOf(identifier);
    const set = await client.create(`/organizations/${organization}/policy-sets`, 'policy-sets', {
      name: newName('set'),
      kind: 'opa',
      'policies-path': '/policies/net',
      'vcs-repo': { identifier, 'oauth-token-id': related(following.oauthClient, 'oauth-tokens') ?? '' },
    });
    const until = (expected: [string, string][]) => expect.poll(() => versionsOf(set)).toEqual(expected);
    await until([[first, 'ready']]);
    await gitea.push(identifier, { 'README.md': 'Elsewhere' }, 'Elsewhere');
    await expect.poll(vcsMessages).toContain(`no changed file affects the 1 policy set`);
    const second = await gitea.push(identifier, inFolder('deny := ["never"]'), 'Deny all');
    await until([
      [second, 'ready'],
      [first, 'ready'],
    ]);
    const broken = await gitea.push(identifier, { 'policies/net/policies.hcl': 'policy {' }, 'Break it');
    await until([
      [broken, 'errored'],
      [second, 'ready'],
      [first, 'ready'],
    ]);
    expect(await currentVersion(set)).toBe(second);
    const other = await gitea.push(identifier, inFolder('deny := []'), 'Elsewhere', { branch: 'other', from: 'main' });
    const mended = await gitea.push(identifier, inFolder('deny := []'), 'Mend it');
    await expect.poll(() => currentVersion(set)).toBe(mended);
    expect((await versionsOf(set)).map(([sha]) => sha)).not.toContain(other);
  });
});

describe.skipIf(!binary)('a user with read access only', () => {
  it('cannot start a plan by pushing a pull request without a branch (AGit)', async () => {
    const identifier = await gitea.repository(newName('agit'), { 'main.tf': resources(['a']) }, { checksRights: true });
    const workspace = await following.follow(identifier);
    await expect.poll(async () => (await following.runsOf(workspace)).length).toBe(1);
    const mallory = await gitea.newUser(newName('m').slice(0, 30));
    await gitea.call('PUT', `/repos/${identifier}/collaborators/${mallory.name}`, { permission: 'read' });
    const evil = await following.inClone(
      identifier,
      async (git, folder) => {
        writeFileSync(join(folder, 'main.tf'), resources(['evil']));
        await git('commit', '-am', 'Evil');
        await expect(git('push', 'origin', 'HEAD:refs/heads/evil')).rejects.toThrow('denied');
        await git('push', 'origin', 'HEAD:refs/for/main', '-o', 'topic=evil', '-o', 'title=Take this');
        return git('rev-parse', 'HEAD');
      },
      mallory,
    );
    const [pull] = await gitea.call('GET', `/repos/${identifier}/pulls`);
    expect([pull.head.sha, pull.head.repo.full_name]).toEqual([evil, identifier]);
    await expect
      .poll(vcsMessages)
      .toContain(`#${pull.number} of ${identifier} comes from a fork, or was pushed without a branch`);
    expect([(await following.runsOf(workspace)).length, await gitea.statuses(identifier, evil)]).toEqual([1, []]);
  });
});

describe.skipIf(!binary)('a webhook', () => {
  /** Repositories with one webhook each, and the action that deletes it. */
  const endings = async (): Promise<{ of: string; identifier: string; end(): Promise<unknown> }[]> => {
    const identifiers = await Promise.all(
      [1, 2, 3, 4].map(() => gitea.repository(newName('hooked'), { 'main.tf': '' })),
    );
    const [ofDisconnected = '', ofDeleted = '', ofConnection = '', ofOrganization = ''] = identifiers;
    const home = newName('home');
    await client.create('/organizations', 'organizations', { name: home, email: 'owner@localhost' });
    const waiting = { 'queue-all-runs': false };
    const by = await following.connect();
    const disconnected = await following.follow(ofDisconnected, waiting);
    const deleted = await following.follow(ofDeleted, waiting);
    await following.follow(ofConnection, waiting, {}, { by });
    await following.follow(ofOrganization, waiting, {}, { by: await following.connect(home), home });
    const none = { data: { type: 'workspaces', attributes: { 'vcs-repo': null } } };
    return [
      {
        of: 'a disconnection',
        identifier: ofDisconnected,
        end: () => client.call('PATCH', `/workspaces/${disconnected.id}`, none),
      },
      { of: 'a workspace', identifier: ofDeleted, end: () => client.call('DELETE', `/workspaces/${deleted.id}`) },
      { of: 'a connection', identifier: ofConnection, end: () => client.call('DELETE', `/oauth-clients/${by.id}`) },
      { of: 'an organization', identifier: ofOrganization, end: () => client.call('DELETE', `/organizations/${home}`) },
    ];
  };
  const hooks = (all: { identifier: string }[]): Promise<number[]> =>
    Promise.all(
      all.map(async ({ identifier }) => (await gitea.call('GET', `/repos/${identifier}/hooks`)).length as number),
    );

  it('is deleted with its workspace, connection or organization, or after a disconnection, later if the forge was down', async () => {
    const all = await endings();
    await gitea.down();
    try {
      proxy.asked = [];
      for (const { end } of all) await end();
      const tried = () =>
        all.filter(({ identifier }) =>
          proxy.asked.some((one) => one.startsWith(`DELETE /api/v1/repos/${identifier}/hooks/`)),
        );
      await expect
        .poll(async () => {
          // On a busy machine, the sweep may have postponed one meanwhile.
          await bringForward();
          return tried().map(({ of }) => of);
        })
        .toEqual(all.map(({ of }) => of));
    } finally {
      await gitea.up();
    }
    expect(await hooks(all)).toEqual([1, 1, 1, 1]);
    await expect
      .poll(async () => {
        await bringForward();
        return hooks(all);
      })
      .toEqual([0, 0, 0, 0]);
  });
});
