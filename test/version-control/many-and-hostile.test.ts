import recorded from '@octokit/webhooks-examples' with { type: 'json' };
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hostileTexts, Random } from '../fuzz/random.ts';
import { Followed, type Json, push, sha } from './support/followed.ts';

/** A push that many follow, deliveries that get lost, and payloads that no forge sends. */

let followed: Followed;
beforeAll(async () => {
  followed = await Followed.start();
});
afterAll(() => followed.close());
beforeEach(() => followed.reset());

const followers = 30;

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
  it('is fetched, compared and looked up once, and costs each of them the same', async () => {
    const { hook, workspaces } = await followMany();
    await followed.deliver(hook, 'push', push(0, 1));
    const event = nextEvent();
    const { handler } = await import('../../functions/orchestration/version-control-event.ts');
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

  it('reaches every one of them, once, although it is cut off again and again', async () => {
    const { handler } = await import('../../functions/orchestration/version-control-event.ts');
    const { hook, workspaces } = await followMany();
    const { aws } = followed.api;
    await followed.deliver(hook, 'push', push(0, 1));
    const event = nextEvent();
    for (const n of [3, 20, 75, 140, 260, 400]) {
      aws.failCall(n, n % 2 ? 'before' : 'after');
      await handler(event).catch(() => {});
    }
    aws.failCall(0, 'before');
    await handler(event);
    for (const workspace of workspaces) {
      expect(await followed.commitsOf(workspace)).toEqual([sha(0), sha(1)]);
    }
  });
});

it('ends with one run of the newest commit, whatever deliveries are lost, doubled or late', async () => {
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

/** The payload with something in it exchanged for what no forge sends. */
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

it('answers no signed payload with 5xx, and handles what it takes', async () => {
  const { hook } = await followed.connect();
  const random = new Random(7);
  const kinds = ['push', 'pull_request', 'issue_comment', 'merge_group', 'installation'];
  const examples = (recorded as unknown as { name: string; examples: Json[] }[]).filter(({ name }) =>
    kinds.includes(name),
  );
  const repository = { id: followed.repositoryId, full_name: followed.identifier, default_branch: 'main' };
  followed.pull = followed.request(10, { state: 'closed' });
  const statuses = new Set<number>();
  for (let i = 0; i < 150; i++) {
    const { name, examples: payloads } = random.of(examples);
    const payload = spoiled({ ...random.of(payloads), repository }, random);
    const { status } = await followed.deliver(hook, name, payload);
    statuses.add(status);
    if (status === 429) await new Promise((resolve) => setTimeout(resolve, 300));
    await followed.settle();
  }
  expect([...statuses].filter((status) => ![200, 202, 400, 401, 429].includes(status))).toEqual([]);
  expect(statuses.has(202) && statuses.has(400)).toBe(true);
});
