import { afterEach, beforeEach, expect, it } from 'vitest';
import { Followed, push, sha } from './support/followed.ts';

/** Pushes and pull requests while the platform is drained. */

const followed = await Followed.start();
beforeEach(() => followed.reset());
const drained = async (input: object) => (await import('#lifecycle/drain/handler.ts')).handler(input);
afterEach(() => drained({ action: 'resume' }));

it.each([
  ['push', push(0, 1)],
  ['pull_request', { action: 'opened', number: 7 }],
])('the run of a %s starts after the drain, without a failed delivery', async (event, payload) => {
  const { workspace, hook } = await followed.connect();
  const before = (await followed.runsOf(workspace)).length;
  await drained({ action: 'start', reason: 'upgrade' });
  followed.head = sha(1);
  followed.pull = followed.request(1, {});
  await followed.deliver(hook, event, payload);
  await followed.settle();
  // More attempts than a delivery may fail.
  for (let n = 1; n <= 8; n++) await followed.sweepAfter(n * 400);
  expect(await followed.runsOf(workspace)).toHaveLength(before);
  await drained({ action: 'resume' });
  await followed.sweepAfter(9 * 400);
  expect(await followed.runsOf(workspace)).toHaveLength(before + 1);
  const events = (await followed.api.get('organizations/acme/vcs-events')).body.data;
  expect(events[0].attributes.level).toBe('info');
});
