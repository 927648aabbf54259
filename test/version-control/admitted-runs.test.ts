import { afterEach, beforeEach, expect, it } from 'vitest';
import { Followed, push } from './support/followed.ts';

/** Pushes on a machine restricted to runs of another organization. */

const followed = await Followed.start();
beforeEach(() => followed.reset());
afterEach(() => {
  delete process.env.RUNS_OF;
});

it.each([
  ['push', push(0, 1)],
  ['pull_request', { action: 'opened', number: 7 }],
])('a %s starts no run, and an event of the connection gives the reason', async (event, payload) => {
  const { workspace, hook } = await followed.connect();
  const before = (await followed.runsOf(workspace)).length;
  process.env.RUNS_OF = 'other';
  followed.pull = followed.request(1, {});
  await followed.deliver(hook, event, payload);
  await followed.settle();
  expect(await followed.runsOf(workspace)).toHaveLength(before);
  const events = (await followed.api.get('organizations/acme/vcs-events')).body.data;
  expect(events[0].attributes).toMatchObject({
    message: expect.stringMatching(/no run in .*organization other only \(STEPFORM_RUNS_OF\)/),
    'suggested-action': 'Ask the operator of this platform, then deliver again.',
  });
});
