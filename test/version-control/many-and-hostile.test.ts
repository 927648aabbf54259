import { beforeEach, describe, expect, it } from 'vitest';
import { hostileTexts, Random } from '#test/fuzz/random.ts';
import { addLayer, inputText } from '#test/support/table-layers.ts';
import type { Dialect } from '#version-control/service-providers.ts';
import { Followed, type Json, push, sha } from './support/followed.ts';
import { githubPayloads } from './support/github-payloads.ts';
import { signature } from './support/signature.ts';

/** A push with many followers, lost deliveries, and payloads that no forge sends. */

const followed = await Followed.start();
beforeEach(() => followed.reset());

const followers = 15;

const followMany = async () => {
  const first = await followed.connect({ 'working-directory': 'a' });
  const workspaces = [first.workspace];
  while (workspaces.length < followers) {
    workspaces.push((await followed.follow(first.token, { 'working-directory': 'a' })).workspace);
  }
  followed.api.aws.invoked.length = 0;
  followed.forge.calls.length = 0;
  return { ...first, workspaces };
};
const newest = async (workspaces: Json[]): Promise<(string | undefined)[]> =>
  Promise.all(workspaces.map(async (one) => (await followed.commitsOf(one)).at(-1)));
const nextEvent = (): Json =>
  followed.api.aws.invoked.splice(0).find(({ name }) => name === 'VersionControlEventFunction')?.event;

describe('one push to many followers', () => {
  it('is fetched, compared and looked up once, with constant costs per follower', async () => {
    const { hook, workspaces } = await followMany();
    await followed.deliver(hook, 'push', push(0, 1));
    const event = nextEvent();
    const { handler } = await import('#lifecycle/creation/version-control-event.ts');
    const before = followed.api.aws.calls;
    await handler(event);
    const each = (followed.api.aws.calls - before) / followers;
    expect(new Set(await newest(workspaces))).toEqual(new Set([sha(1)]));
    expect(followed.api.aws.invoked.filter(({ name }) => name === 'FetchCommitFunction')).toHaveLength(1);
    expect(followed.forge.calls.map(({ method, path }) => `${method} ${path.split('/').slice(4, 5)}`).sort()).toEqual([
      'GET commits',
      'GET compare',
    ]);
    expect(each).toBeLessThan(40);
  });

  it('runs in all other followers when one of them fails', async () => {
    const { handler } = await import('#lifecycle/creation/version-control-event.ts');
    const { hook, workspaces } = await followMany();
    await followed.deliver(hook, 'push', push(0, 1));
    const event = nextEvent();
    const { keys } = await import('#platform/store/keys.ts');
    const removeLayer = addLayer(async (operation, input, next) => {
      const isOf = inputText(input).includes(keys.workspace(workspaces[1].id).pk);
      if (isOf && operation === 'UpdateItem') throw new Error('of this workspace alone');
      return next(operation, input);
    });
    await handler(event);
    removeLayer();
    expect((await newest(workspaces)).map((commit) => commit === sha(1))).toEqual(workspaces.map((_, i) => i !== 1));
    await handler(event);
    expect(new Set(await newest(workspaces))).toEqual(new Set([sha(1)]));
  });

  it('is fetched once and runs once in each of them, wherever it is interrupted', async () => {
    const { handler } = await import('#lifecycle/creation/version-control-event.ts');
    const fetching = await import('#lifecycle/creation/fetch-commit.ts');
    const { hook, workspaces } = await followMany();
    await followed.has({ 'a/main.tf': '# 1' });
    const { aws } = followed.api;
    const commits = [sha(0)];
    // Each further push is interrupted later, until one is not interrupted.
    let wasCutOff = true;
    for (let n = 1; wasCutOff; n += 31) {
      const to = commits.length;
      followed.toNextSecond();
      await followed.deliver(hook, 'push', push(to - 1, to));
      commits.push(sha(to));
      const event = nextEvent();
      aws.failCall(n, to % 2 ? 'before' : 'after');
      await handler(event).catch(() => {});
      wasCutOff = !aws.pendingFault;
      aws.failCall(0, 'before');
      await handler(event);
      const fetches = aws.invoked.splice(0).filter(({ name }) => name === 'FetchCommitFunction');
      await Promise.all([...fetches, ...fetches].map(({ event: one }) => fetching.handler(one as never)));
      expect(followed.forge.asked('GET', /\/tarball\//)).toHaveLength(to);
    }
    expect(commits.length).toBeGreaterThan(10);
    for (const workspace of workspaces) {
      const run = (await followed.runsOf(workspace)).at(-1);
      expect(await followed.commitsOf(workspace)).toEqual(commits);
      const version = await followed.api.get(`configuration-versions/${run.configurationVersionId}`);
      expect(version.body.data.attributes.status).toBe('uploaded');
    }
  });
});

it('a branch ends with one run of the newest commit, even if deliveries are lost, repeated or late', async () => {
  const random = new Random(15);
  for (let round = 0; round < 4; round++) {
    followed.reset();
    const { workspace, hook } = await followed.connect();
    const count = 6;
    followed.head = sha(count);
    const sent = Array.from({ length: count }, (_, i) => i + 1)
      .flatMap((n) => (n < count && random.chance(0.3) ? [] : random.chance(0.3) ? [n, n] : [n]))
      .sort(() => random.next() - 0.5);
    for (const n of sent) {
      await followed.deliver(hook, 'push', push(n - 1, n));
      if (random.chance(0.5)) await followed.settle();
    }
    await followed.settle();
    const commits = await followed.commitsOf(workspace);
    expect([sent, commits.at(-1), new Set(commits).size]).toEqual([sent, sha(count), commits.length]);
  }
});

/** The payload with a random part replaced by something that no forge sends. */
const spoiled = (payload: Json, random: Random): Json => {
  const copy = structuredClone(payload);
  for (let i = 0; i < 3; i++) {
    let at = copy;
    for (;;) {
      const names = Object.keys(at);
      if (names.length === 0) break;
      const name = random.of(names);
      if (at[name] !== null && typeof at[name] === 'object' && random.chance(0.7)) {
        at = at[name];
        continue;
      }
      if (random.chance(0.3)) delete at[name];
      else at[name] = random.of([null, -1, 1e308, true, [], {}, [[]], { id: {} }, ...hostileTexts]);
      break;
    }
  }
  return copy;
};

/** Payloads by the kind in their headers, as the documentation of the forges has them. */
const payloadsOf = (dialect: Dialect): { name: string; payload: Json }[] => {
  if (dialect === 'gitlab') {
    const project = { id: 1, default_branch: 'main', path_with_namespace: 'acme/infra' };
    const user = { username: 'octocat', user_username: 'octocat', user_avatar: 'https://x/a.png' };
    const about = { ...user, project, project_id: 1, user };
    const push = {
      ref: 'refs/heads/main',
      before: sha(0),
      after: sha(1),
      checkout_sha: sha(1),
      commits: [{ id: sha(1) }],
    };
    const request = { iid: 7, action: 'update', oldrev: sha(0), source_project_id: 1, target_project_id: 1 };
    const last = { target_branch: 'main', source_branch: 'f', last_commit: { id: sha(1) }, state: 'opened' };
    const note = { id: 5, note: 'stepform plan', noteable_type: 'MergeRequest', action: 'create' };
    return [
      { name: 'Push Hook', payload: { object_kind: 'push', ...about, ...push } },
      { name: 'Tag Push Hook', payload: { object_kind: 'tag_push', ...about, ...push, ref: 'refs/tags/v1' } },
      {
        name: 'Merge Request Hook',
        payload: { object_kind: 'merge_request', ...about, object_attributes: { ...request, ...last } },
      },
      {
        name: 'Note Hook',
        payload: { object_kind: 'note', ...about, object_attributes: note, merge_request: { ...request, ...last } },
      },
    ];
  }
  const kinds = ['push', 'pull_request', 'issue_comment', 'merge_group', 'installation'];
  return kinds.flatMap((name) => (githubPayloads[name] ?? []).map((payload) => ({ name, payload })));
};

/** The headers of one delivery, with the forge's signature or token. */
const headersOf = (dialect: Dialect, name: string, body: string, secret: string): Record<string, string> => {
  const signed = { 'x-hub-signature-256': signature(body, secret) };
  if (dialect === 'gitlab') return { 'x-gitlab-event': name, 'x-gitlab-token': secret };
  return dialect === 'gitea' ? { 'x-gitea-event': name, ...signed } : { 'x-github-event': name, ...signed };
};

/** A followed repository at a forge of the kind. @returns path and secret of its webhook */
const hookAt = async (dialect: Dialect): Promise<{ hook: string; secret: string }> => {
  const { hookPath, keepRepository, openHookSecret } = await import('#version-control/repositories.ts');
  const client = { id: `oc-${dialect}`, organization: 'acme', dialect } as Json;
  const found = { id: '1', identifier: followed.identifier, defaultBranch: 'main', httpUrl: '', cloneUrl: '' };
  const access = { client, id: `ot-${dialect}`, isInstallation: false };
  const repository = await keepRepository(access, { ...found, mayAdminister: true });
  return { hook: hookPath(repository), secret: await openHookSecret(repository, repository.sealedSecret) };
};

it.each(['github', 'gitlab', 'gitea'] as const)(
  'a signed payload of %s never gets a response with status 5xx',
  async (dialect) => {
    const { hook, secret } = await hookAt(dialect);
    const random = new Random(15);
    const payloads = payloadsOf(dialect);
    const statuses = new Set<number>();
    for (let i = 0; i < 200; i++) {
      // The number of deliveries per second is limited.
      if (i % 15 === 0) followed.toNextSecond();
      const { name, payload } = random.of(payloads);
      const about = dialect === 'gitlab' ? {} : { repository: { id: 1, full_name: 'a/b', default_branch: 'main' } };
      const body = JSON.stringify(spoiled({ ...payload, ...about }, random));
      const headers = { 'content-type': 'application/json', ...headersOf(dialect, name, body, secret) };
      statuses.add((await followed.api.call('POST', hook, { token: null, body, headers })).status);
      const wrong = { ...headers, ...headersOf(dialect, name, body, 'other') };
      if (i % 10 === 0)
        expect((await followed.api.call('POST', hook, { token: null, body, headers: wrong })).status).toBe(401);
    }
    await followed.settle();
    expect([...statuses].filter((status) => ![200, 202, 400, 401].includes(status))).toEqual([]);
    expect([200, 202, 400].filter((status) => !statuses.has(status))).toEqual([]);
  },
);

it('every accepted payload is handled', async () => {
  const { hook } = await followed.connect();
  const random = new Random(7);
  const kinds = ['push', 'pull_request', 'issue_comment', 'merge_group', 'installation'];
  const repository = { id: followed.repositoryId, full_name: followed.identifier, default_branch: 'main' };
  followed.pull = followed.request(10, { state: 'closed' });
  const statuses = new Set<number>();
  for (let i = 0; i < 150; i++) {
    const name = random.of(kinds);
    const payload = spoiled({ ...random.of(githubPayloads[name] ?? []), repository }, random);
    const { status } = await followed.deliver(hook, name, payload);
    statuses.add(status);
    if (status === 429) await new Promise((resolve) => setTimeout(resolve, 300));
    await followed.settle();
  }
  expect([...statuses].filter((status) => ![200, 202, 400, 401, 429].includes(status))).toEqual([]);
  expect(statuses.has(202) && statuses.has(400)).toBe(true);
});
