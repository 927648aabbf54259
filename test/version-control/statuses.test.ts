import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Followed, type Json, sha } from './support/followed.ts';

/** Statuses of commits that many workspaces run, over time, and at forges with rate limits. */

/** Delays of the product take no time: the clock advances instead. */
const waited = vi.hoisted(() => ({ until: undefined as ((ms: number) => Promise<void>) | undefined }));
vi.mock('node:timers/promises', async (original) => {
  const actual = await original<typeof import('node:timers/promises')>();
  return { ...actual, setTimeout: (ms: number) => waited.until?.(ms) ?? actual.setTimeout(ms) };
});

const followed = await Followed.start();
beforeEach(() => followed.reset());
afterEach(() => {
  waited.until = undefined;
});

/** Runs of a commit, one per workspace, all in the queue. */
const runsOfCommit = async (count: number): Promise<{ ids: string[]; commit: Json }> => {
  const { workspace, token } = await followed.connect();
  const [first] = await followed.runsOf(workspace);
  const commit = { tokenId: token, identifier: followed.identifier, sha: sha(9) };
  const { put } = await import('#platform/store/table.ts');
  const { keys } = await import('#platform/store/keys.ts');
  const { registerRun } = await import('#version-control/commit-records.ts');
  const ids = Array.from({ length: count }, (_, n) => `run-${followed.repositoryId}-${n}`);
  await Promise.all(
    ids.map(async (id, n) => {
      const workspaceId = `ws-${followed.repositoryId}-${n}`;
      await put({ ...first, ...keys.run(id), id, workspaceId, workspaceName: `w${n}`, commit });
      await registerRun(commit, { workspaceId, runId: id, at: first.createdAt });
    }),
  );
  return { ids, commit };
};

const become = async (id: string, change: Record<string, unknown>): Promise<void> => {
  const { update } = await import('#platform/store/table.ts');
  const { keys } = await import('#platform/store/keys.ts');
  await update(keys.run(id), { set: change });
};
const planned = { status: 'planned_and_finished', plan: { status: 'finished', statusTimestamps: {}, report: {} } };

const tell = async (runId: string): Promise<void> => {
  const { handler } = await import('#version-control/commit-status.ts');
  await handler({ runId });
};
const posts = () => followed.forge.asked('POST', new RegExp(`/statuses/${sha(9)}$`)).map(({ body }) => body);

/** Delays end when the test advances the clock that far. */
const byHand = () => {
  const waiting: { at: number; go: () => void }[] = [];
  waited.until = (ms) => new Promise((go) => waiting.push({ at: Date.now() + ms, go }));
  return (ms: number): void => {
    vi.setSystemTime(Date.now() + ms);
    for (const one of waiting.filter(({ at }) => at <= Date.now())) {
      waiting.splice(waiting.indexOf(one), 1);
      one.go();
    }
  };
};

it('the status of 150 workspaces that are planned within seven minutes takes at most 60 posts', async () => {
  const { ids } = await runsOfCommit(150);
  const pass = byHand();
  let busy = 0;
  const until = async (done: () => boolean) => {
    while (!done()) {
      pass(200);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  const began = Date.now();
  for (let n = 0; n < ids.length; n += 3) {
    const some = ids.slice(n, n + 3);
    for (const id of some) await become(id, planned);
    // Like events: each starts a function.
    for (const id of some) {
      busy++;
      void tell(id).finally(() => busy--);
    }
    await until(() => Date.now() - began > (n + 3) * 2700);
  }
  await until(() => busy === 0);
  expect(Date.now() - began).toBeLessThan(420_000);
  expect(posts().at(-1)).toMatchObject({ state: 'success', description: '150 workspaces: 150 planned' });
  expect(posts().length).toBeGreaterThan(20);
  expect(posts().length).toBeLessThanOrEqual(60);
});

/** The sweep, which runs every minute, does the rest. */
const sweepUntil = async (done: () => boolean): Promise<void> => {
  const { updateStatus } = await import('#version-control/commit-status.ts');
  for (let minutes = 0; !done(); minutes++) {
    expect(minutes).toBeLessThan(120);
    await followed.sweepAfter(60, async ({ name, event }) => {
      if (name === 'CommitStatusFunction') await updateStatus((event as { commit: string }).commit);
    });
  }
};

it('separate statuses are posted once, even if the forge requests a pause in between', async () => {
  const { ids } = await runsOfCommit(50);
  waited.until = async (ms) => void vi.setSystemTime(Date.now() + ms);
  await followed.api.patch('organizations/acme', { 'aggregated-commit-status-enabled': false });
  let asked = 0;
  followed.forge.on('POST', /\/statuses\//, () =>
    ++asked === 31 ? { status: 429, headers: { 'retry-after': '100' }, body: {} } : { status: 201, body: {} },
  );
  await tell(ids[0] as string);
  expect(asked).toBe(31);
  // Meanwhile the forge gets no request, and runs continue.
  for (const id of ids.slice(1, 4)) await tell(id);
  expect(asked).toBe(31);
  await sweepUntil(() => asked >= 51);
  const contexts = posts().map(({ context }) => context);
  expect([contexts.length, new Set(contexts).size]).toEqual([51, 50]);
  await followed.api.patch('organizations/acme', { 'aggregated-commit-status-enabled': true });
});

it('the final status is posted even after the maximum number of posts of a commit', async () => {
  const { ids, commit } = await runsOfCommit(1);
  const [id] = ids as [string];
  waited.until = async (ms) => void vi.setSystemTime(Date.now() + ms);
  await tell(id);
  const { update } = await import('#platform/store/table.ts');
  const { keys } = await import('#platform/store/keys.ts');
  const { commitId } = await import('#version-control/commit-records.ts');
  await update(keys.commit(commitId(commit)), { set: { posts: 300 } });
  await become(id, { status: 'planning' });
  vi.setSystemTime(Date.now() + 61_000);
  await tell(id);
  expect(posts()).toHaveLength(1);
  await become(id, planned);
  await tell(id);
  expect(posts().at(-1)).toMatchObject({ state: 'success' });
  // Only a minute after the previous one.
  await become(id, { status: 'errored', plan: { status: 'errored', statusTimestamps: {} } });
  await tell(id);
  expect(posts()).toHaveLength(2);
  await sweepUntil(() => posts().length > 2);
  expect(posts().at(-1)).toMatchObject({ state: 'failure' });
});
